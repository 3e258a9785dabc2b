"""The commands of `elmo-tasks`, under the headings of its help. Each is a module of this folder."""

GROUPS = {
    "a model of your own": ("new", "train", "predict", "evaluate"),
    "more to do with models and biLMs": ("serve", "embed", "score", "errors"),
    "for research": (
        *("ablation", "probe", "mix", "neighbors"),
        *("check", "export", "store", "pack"),
    ),
}
COMMANDS = tuple(name for names in GROUPS.values() for name in names)

# AllenNLP has `train`, `predict` and `evaluate`, which stay as they are there; these it has not.
IN_ALLENNLP = tuple(name for name in COMMANDS if name not in GROUPS["a model of your own"])

# The commands of AllenNLP that `elmo-tasks` has, with the plugin.
OF_ALLENNLP = {
    "find-lr": "Find a learning rate.",
    "build-vocab": "Build the vocabulary of a config.",
    "print-results": "Print the metrics of several trainings.",
}
