import json
from pathlib import Path
from typing import Any

import pytest

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.readers.tagged_file import TaggedSentence, read_tagged
from elmo_tasks.readers.tokenizers import ElmoSpacyTokenizer

FIXTURE = Path(__file__).parents[2] / "fixtures" / "tag.conllu"


def read(path: Path, column: str, columns: tuple[str, ...] = ("word", "tag")) -> list[Any]:
    return list(read_tagged(path, column, columns, ElmoSpacyTokenizer().tokenize))


def rows(folder: Path, *values: Any) -> Path:
    path = folder / "in.jsonl"
    path.write_text("".join(json.dumps(value) + "\n" for value in values), encoding="utf-8")
    return path


def test_a_column_of_conllu_is_read_by_its_name() -> None:
    upos, xpos = (read(FIXTURE, column) for column in ("upos", "xpos"))

    words = "The ferry left at noon .".split()
    assert upos[0] == TaggedSentence(3, words, "DET NOUN VERB ADP NOUN PUNCT".split())
    assert xpos[0].tags == "DT NN VBD IN NN .".split()
    assert len(upos) == 10


def test_multiword_ranges_and_empty_nodes_are_no_tokens() -> None:
    sentences = read(FIXTURE, "upos")

    assert sentences[3].words == "We can not sleep here .".split()
    assert sentences[9].words == ["Plums", "sleep", "."]


@pytest.mark.parametrize(
    "span",
    [{"start": 0, "end": 12, "label": "PER", "id": 7}, [0, 12, "PER"]],
    ids=["object", "list"],
)
def test_spans_of_a_text_become_tags_of_its_tokens(span: Any, tmp_path: Path) -> None:
    path = rows(
        tmp_path,
        {"text": "Marta Oduya's ferry", "spans": [[14, 19, "BOAT"], [0, 11, "PER"]]},
        {"text": "Marta  Oduya left", "spans": [span]},
        {"text": "Nobody left.", "spans": []},
    )

    first, second, third = read(path, "spans")

    assert (first.words, first.tags) == (
        ["Marta", "Oduya", "'s", "ferry"],
        ["B-PER", "I-PER", "O", "B-BOAT"],
    )
    assert (second.words, second.tags) == (["Marta", "Oduya", "left"], ["B-PER", "I-PER", "O"])
    assert (third.line_number, third.tags) == (3, ["O", "O", "O"])


def test_json_may_have_tokens_and_their_tags(tmp_path: Path) -> None:
    path = rows(tmp_path, {"tokens": ["Rain", "fell"], "pos": ["N", "V"], "id": 1})

    assert [(each.words, each.tags) for each in read(path, "pos")] == [
        (["Rain", "fell"], ["N", "V"])
    ]


def test_a_column_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="CoNLL-U has no column pos"):
        read(FIXTURE, "pos")
