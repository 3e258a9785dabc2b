"""Turns a user's own file into a model: inspects the file, splits it, and reports the result."""
