class ConfigurationError(ValueError):
    """Raised if a setting, a file or an argument cannot be used; the message says why."""


# What to do if AllenNLP is missing.
INSTALL_ALLENNLP = (
    "this part of elmo_tasks needs AllenNLP: "
    'pip install "elmo-tasks[allennlp]" && pip install --no-deps allennlp==2.10.1'
)
