class ConfigurationError(ValueError):
    """A setting, a file or an argument that cannot be used; the message says why."""
