"""
Registers every name of elmo_tasks with AllenNLP: imports every module that registers a name. Also
makes the repairs of `compat.py`. Nothing else in AllenNLP changes.

AllenNLP's commands import the plugin through `elmo_tasks`. A script that imports elmo_tasks before
AllenNLP must also `import elmo_tasks.plugin`.
"""

import importlib
from typing import Any

from elmo_tasks.common.errors import require_allennlp

require_allennlp()

from allennlp.commands.subcommand import Subcommand  # noqa: E402

from elmo_tasks import compat  # noqa: E402, F401
from elmo_tasks.archives.elmo_of_model import elmo_of_model as elmo_of_model  # noqa: E402
from elmo_tasks.commands.command import IN_ALLENNLP, add_command, load  # noqa: E402

# The modules that register names, by their folders.
REGISTERING = {
    "language_model": "callback counted_vocabulary loaders model vector_start",
    "models": "bcn bidaf coref_resolver crf_tagger esim softmax_tagger srl_tagger text_classifier",
    "models.metrics": "coref spans squad",
    "modules": "alternating_lstm character_cnn layers packed_encoder text_embedder word_vectors",
    "predictors": "coref evaluator label_predictor language_model squad srl tag",
    "readers": "classify coref fraction indexers sentences snli squad srl sst tag tokenizers",
    "training": "checkpointer optimizers trainer",
}

for _room, _names in REGISTERING.items():
    for _name in _names.split():
        importlib.import_module(f"elmo_tasks.{_room}.{_name}")


class _OwnCommand(Subcommand):
    """Offers the command NAME of `elmo-tasks` as `allennlp elmo-NAME`."""

    def add_subparser(self, parser: Any) -> Any:
        return add_command(parser, self.name, load(self.name.removeprefix("elmo-")))


for _name in IN_ALLENNLP:
    Subcommand.register(f"elmo-{_name}")(type(f"_{_name}", (_OwnCommand,), {}))
