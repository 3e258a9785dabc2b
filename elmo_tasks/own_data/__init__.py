"""
What leads from a user's own file to a model: looking at the file, splitting it, and the result.
"""
