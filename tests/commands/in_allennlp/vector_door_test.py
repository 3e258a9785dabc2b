import re
from pathlib import Path

import pytest
import torch
from allennlp.common import Params
from allennlp.data import DatasetReader, Vocabulary
from allennlp.data.vocabulary import _read_pretrained_tokens
from allennlp.modules.token_embedders import Embedding, embedding

from elmo_tasks.commands.in_allennlp.train_command import train_model
from elmo_tasks.commands.in_allennlp.vector_door import vectors_read_by_us
from elmo_tasks.common.vector_files import read_vectors
from tests.helpers.configs import ROOT, tiny
from tests.helpers.training import train

VECTORS = str(ROOT / "fixtures" / "vectors.txt")


def test_a_plain_file_gives_what_allennlp_reads() -> None:
    words = _read_pretrained_tokens(VECTORS)
    dim = len(Path(VECTORS).read_text().splitlines()[-1].split(" ")) - 1
    vocab = Vocabulary(tokens_to_add={"tokens": [*words[::2], "unseen"]})
    torch.manual_seed(0)
    expected = Embedding(dim, pretrained_file=VECTORS, vocab=vocab)

    torch.manual_seed(0)
    with vectors_read_by_us():
        found = Embedding(dim, pretrained_file=VECTORS, vocab=vocab)
        from allennlp.data import vocabulary

        assert vocabulary._read_pretrained_tokens(VECTORS) == words

    assert torch.equal(found.weight, expected.weight)
    assert embedding._read_embeddings_from_text_file.__module__ == embedding.__name__


def test_a_training_names_the_flaw_of_its_vectors(tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt"
    path.write_text("the 1 2 3\n")
    change = f"{{ word_vectors: {{ embedding_dim: 2, pretrained_file: '{path}' }} }}"
    message = ":1: the vectors have 3 numbers, not 2: set embedding_dim to the width of the vectors"

    with pytest.raises(ValueError, match=f"{re.escape(str(path))}{message}"):
        train(tiny("sst", "baseline", change), tmp_path / "run")


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("vectors/glove.6B.100d.120k.txt.gz", "python scripts/fetch_data.py --glove 6B"),
        ("glove.840B.300d.txt", "python scripts/fetch_data.py --glove 840B"),
        ("mine.txt", ""),
    ],
)
def test_missing_vectors_are_said_before_data_are_read_with_the_command_that_fetches_them(
    name: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(reader: DatasetReader, path: str) -> None:
        raise AssertionError("data are read")

    monkeypatch.setattr(DatasetReader, "read", read)
    path = tmp_path / name
    change = f"{{ word_vectors: {{ embedding_dim: 2, pretrained_file: '{path}' }} }}"
    message = re.escape(f"file {path} not found" + (f": `{command}` makes it" if command else ""))

    with pytest.raises(FileNotFoundError, match=f"^{message}$"):
        train_model(Params(tiny("sst", "baseline", change)), str(tmp_path / "run"))
    with pytest.raises(FileNotFoundError, match=f"^{message}$"):
        read_vectors(str(path))

    assert not (tmp_path / "run").exists()
