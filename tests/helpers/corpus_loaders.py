from pathlib import Path
from typing import Any

import torch
from allennlp.common import Params
from allennlp.data import DataLoader

from elmo_tasks.language_model import loaders  # noqa: F401
from elmo_tasks.language_model.corpus_loader import CorpusLoader
from elmo_tasks.language_model.counted_vocabulary import CountedVocabulary
from elmo_tasks.readers.sentences import SentencesReader

CORPUS = Path(__file__).parents[2] / "fixtures" / "corpus" / "train.txt"
LINES = [line.split() for line in CORPUS.read_text(encoding="utf-8").splitlines()]
SENTENCES = [("<S>", *words, "</S>") for words in LINES]
LOADERS: dict[str, dict[str, Any]] = {
    "elmo_sentences": {"batch_tokens": 100},
    "elmo_windows": {"rows": 3, "length": 7},
}


def make_loader(kind: str, path: Path = CORPUS, **arguments: Any) -> CorpusLoader:
    """Makes a loader as a training does, with a seed and a vocabulary of the whole text."""
    torch.manual_seed(arguments.pop("seed", 0))
    params = Params({"type": kind, **LOADERS[kind], **arguments})
    reader = SentencesReader()
    loader = DataLoader.from_params(params, reader=reader, data_path=str(path))
    assert isinstance(loader, CorpusLoader)
    loader.index_with(CountedVocabulary.from_corpus(loader.iter_instances()))
    return loader


def ids(batch: dict[str, Any], field: str = "tokens") -> torch.Tensor:
    """Returns the word ids of a batch: of its sentences, or of what its windows predict."""
    (name,) = batch[field].keys() - {"elmo"}
    return batch[field][name]["tokens"]


def texts(loader: CorpusLoader, word_ids: torch.Tensor) -> list[tuple[str, ...]]:
    """Returns the words of every row."""
    assert loader._vocab is not None
    words = loader._vocab.get_index_to_token_vocabulary("tokens")
    return [tuple(words[word_id] for word_id in row if word_id) for row in word_ids.tolist()]


def sentences(loader: CorpusLoader) -> list[tuple[str, ...]]:
    """Returns the sentences of an epoch in the order in which they come."""
    return [row for batch in loader for row in texts(loader, ids(batch))]


def windows(
    loader: CorpusLoader, batch: dict[str, Any], field: str = "tokens"
) -> list[list[tuple[str, str]]]:
    """Returns the token that is read and the token that is predicted, by row and position."""
    char_ids = batch[field]["elmo"]["elmo_tokens"].tolist()
    read = [[_word(token) for token in row if any(token)] for row in char_ids]
    predicted = texts(loader, ids(batch, field))
    return [list(zip(*pair, strict=True)) for pair in zip(read, predicted)]


def _word(char_ids: list[int]) -> str:
    """Decodes bilm-tf's char ids, each greater by 1, as AllenNLP's indexer gives them."""
    assert char_ids[0] == 259
    characters = char_ids[1 : char_ids.index(260)]
    if characters in ([257], [258]):
        return "<S>" if characters == [257] else "</S>"
    return bytes(character - 1 for character in characters).decode()
