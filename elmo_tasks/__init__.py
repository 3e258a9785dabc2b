"""
ELMo (Peters et al. 2018) and the tasks of its paper, as a plugin of AllenNLP.

AllenNLP imports a plugin without its submodules, so every module that registers a name is imported
here by name.
"""

try:
    import allennlp  # noqa: F401
except ModuleNotFoundError:
    raise ImportError(
        "elmo_tasks needs AllenNLP and the versions it is tested with, which"
        " `pip install --no-deps -r requirements.txt` installs from its repository."
    ) from None

from elmo_tasks import mends  # noqa: F401
from elmo_tasks.commands import elmo_ablation, elmo_check, elmo_export, elmo_store  # noqa: F401
from elmo_tasks.elmo import token_embedder  # noqa: F401
from elmo_tasks.models import bcn, language_model  # noqa: F401
from elmo_tasks.predictors import language_model as _language_model_predictor  # noqa: F401
from elmo_tasks.predictors import sst as _sst_predictor  # noqa: F401
from elmo_tasks.readers import (  # noqa: F401
    corpus_loader,
    counted_vocabulary,
    fraction,
    sentences,
    spacy_tokenizer,
    sst,
)
from elmo_tasks.training import checkpointer, pretraining, trainer  # noqa: F401
