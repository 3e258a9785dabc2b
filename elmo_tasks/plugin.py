"""
Registers every name of elmo_tasks with AllenNLP, by importing every module that registers one.

AllenNLP's commands import it through `elmo_tasks`. A script that imports elmo_tasks before AllenNLP
must also `import elmo_tasks.plugin`.
"""

try:
    import allennlp  # noqa: F401
except ModuleNotFoundError:
    raise ImportError(
        "this part of elmo_tasks needs AllenNLP and the versions it is tested with, which"
        " `pip install --no-deps -r requirements.txt` installs from its repository"
    ) from None

from elmo_tasks import compat, guard  # noqa: F401
from elmo_tasks.commands import (  # noqa: F401
    elmo_ablation,
    elmo_check,
    elmo_embed,
    elmo_export,
    elmo_mix,
    elmo_neighbors,
    elmo_pack,
    elmo_predict,
    elmo_probe,
    elmo_store,
    excepthook,
)
from elmo_tasks.language_model import (  # noqa: F401
    callback,
    counted_vocabulary,
    model,
    sentence_loader,
    vector_start,
    window_loader,
)
from elmo_tasks.metrics import squad as _squad_metric  # noqa: F401
from elmo_tasks.models import bcn, bidaf, crf_tagger, esim  # noqa: F401
from elmo_tasks.modules import (  # noqa: F401
    character_cnn,
    character_encoding,
    gru,
    lstm,
    token_embedder,
    truncated_normal,
    word_vectors,
)
from elmo_tasks.predictors import evaluator, predict_manager  # noqa: F401
from elmo_tasks.predictors import language_model as _language_model_predictor  # noqa: F401
from elmo_tasks.predictors import ner as _ner_predictor  # noqa: F401
from elmo_tasks.predictors import snli as _snli_predictor  # noqa: F401
from elmo_tasks.predictors import squad as _squad_predictor  # noqa: F401
from elmo_tasks.predictors import sst as _sst_predictor  # noqa: F401
from elmo_tasks.readers import (  # noqa: F401
    char_ids_indexer,
    conll,
    folded_indexer,
    fraction,
    known_case_indexer,
    repeated_sampler,
    sentences,
    snli,
    spacy_tokenizer,
    splitting_tokenizer,
    squad,
    sst,
)
from elmo_tasks.training import (  # noqa: F401
    adam,
    checkpointer,
    moving_average,
    safe_train,
    trainer,
)

excepthook.install_in_command_line()
