class ConfigurationError(ValueError):
    """Raised if a setting, a file or an argument cannot be used; the message says why."""
