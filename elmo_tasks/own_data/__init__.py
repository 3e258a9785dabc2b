"""From a user's own file to a model: a look at the file, its parts, and the result."""
