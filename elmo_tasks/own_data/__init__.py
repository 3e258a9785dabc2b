"""What leads from a user's own file to a model: its content, its split, and the result."""
