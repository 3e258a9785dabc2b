"""
Registers every name of elmo_tasks with AllenNLP, by importing every module that registers a name,
and repairs AllenNLP (`in_allennlp/compat.py`). It changes nothing else but the vocabulary of
distributed trainings (`in_allennlp/saved_vocabulary.py`).

AllenNLP's commands import the plugin through `elmo_tasks`. A script that imports elmo_tasks before
AllenNLP must also `import elmo_tasks.plugin`.
"""

from typing import Any

from elmo_tasks.common.errors import INSTALL_ALLENNLP

try:
    import allennlp  # noqa: F401
except ModuleNotFoundError:
    raise ImportError(INSTALL_ALLENNLP) from None

from allennlp.commands.subcommand import Subcommand

from elmo_tasks.commands.catalog import IN_ALLENNLP
from elmo_tasks.commands.command import add_command, load
from elmo_tasks.in_allennlp import compat, saved_vocabulary  # noqa: F401
from elmo_tasks.language_model import (  # noqa: F401
    callback,
    counted_vocabulary,
    model,
    sentence_loader,
    softmax_start,
    vector_start,
    window_loader,
)
from elmo_tasks.metrics import coref as _coref_metric  # noqa: F401
from elmo_tasks.metrics import squad as _squad_metric  # noqa: F401
from elmo_tasks.metrics import srl as _srl_metric  # noqa: F401
from elmo_tasks.models import (  # noqa: F401
    bcn,
    bidaf,
    coref_resolver,
    crf_tagger,
    esim,
    softmax_tagger,
    srl_tagger,
    text_classifier,
)
from elmo_tasks.modules import (  # noqa: F401
    alternating_lstm,
    character_cnn,
    gru,
    lstm,
    token_embedder,
    truncated_normal,
    word_vectors,
)
from elmo_tasks.predictors import classify as _classify_predictor  # noqa: F401
from elmo_tasks.predictors import coref as _coref_predictor  # noqa: F401
from elmo_tasks.predictors import evaluator  # noqa: F401
from elmo_tasks.predictors import language_model as _language_model_predictor  # noqa: F401
from elmo_tasks.predictors import ner as _ner_predictor  # noqa: F401
from elmo_tasks.predictors import snli as _snli_predictor  # noqa: F401
from elmo_tasks.predictors import squad as _squad_predictor  # noqa: F401
from elmo_tasks.predictors import srl as _srl_predictor  # noqa: F401
from elmo_tasks.predictors import sst as _sst_predictor  # noqa: F401
from elmo_tasks.predictors import tag as _tag_predictor  # noqa: F401
from elmo_tasks.readers import (  # noqa: F401
    classify,
    coref,
    fraction,
    indexers,
    sentences,
    snli,
    squad,
    srl,
    sst,
    tag,
    tokenizers,
)
from elmo_tasks.training import (  # noqa: F401
    checkpointer,
    moving_average,
    optimizers,
    report,
    trainer,
)


class _OwnCommand(Subcommand):
    """A command of `elmo-tasks`, as `allennlp elmo-NAME`."""

    def add_subparser(self, parser: Any) -> Any:
        return add_command(parser, self.name, load(self.name.removeprefix("elmo-")))


for _name in IN_ALLENNLP:
    Subcommand.register(f"elmo-{_name}")(type(f"_{_name}", (_OwnCommand,), {}))
