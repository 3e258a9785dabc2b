"""Helps from a user's own file to a model: looks at the file, splits it, and shows the result."""
