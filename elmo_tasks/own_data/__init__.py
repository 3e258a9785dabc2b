"""From a user's own file to a model: looks at the file, divides it, and reports the result."""
