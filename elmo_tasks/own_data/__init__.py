"""From a file that somebody brings to a model: what is in the file, its split, and the result."""
