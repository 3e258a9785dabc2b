import os
from pathlib import Path

from elmo_tasks.bilm import make_bilm
from elmo_tasks.bilm.files.known_bilms import OPTIONS_FILE, WEIGHTS_FILE
from elmo_tasks.language_model.model import ElmoLanguageModel
from elmo_tasks.language_model.softmax import Softmax
from elmo_tasks.language_model.softmax_file import SOFTMAX_FILE, write_softmax
from elmo_tasks.predictors.language_model import softmax_of

# The number of words in the softmax of a published language model.
MAX_WORDS = 50_000


def write_language_model(
    model: ElmoLanguageModel, folder: str | os.PathLike, max_words: int | None = None
) -> Softmax:
    """
    Writes a trained language model for `LanguageModel.from_pretrained`: the biLM in float16 to
    `options.json` and `weights.hdf5`, and its softmax in 8 bits. An old softmax in the folder is
    removed first, so a killed run cannot leave the old softmax beside the new biLM.

    # Parameters

    max_words: The number of words that the softmax keeps, by default the 50,000 most frequent ones.

    # Returns

    The softmax that was written.
    """
    folder = Path(folder)
    softmax = softmax_of(model).in_8_bits(MAX_WORDS if max_words is None else max_words)
    (folder / SOFTMAX_FILE).unlink(missing_ok=True)
    model.bilm.to_files(folder, dtype="float16")
    # The weights are read again, because float16 has rounded them.
    written = make_bilm(folder / OPTIONS_FILE, folder / WEIGHTS_FILE, state="reset")
    write_softmax(folder, softmax, written)
    return softmax
