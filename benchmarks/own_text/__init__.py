"""Compares classify and tag with what one would use instead, by the number of labels."""
