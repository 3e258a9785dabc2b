"""A file in columns goes in, the same file comes out, with the predicted tags behind."""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas
import pytest
from allennlp.data import Vocabulary
from hypothesis import HealthCheck, given, settings

from elmo_tasks.commands.own_data.tags import choose_tags
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.predictors.answer_columns import AnswerColumns
from elmo_tasks.predictors.answer_lines import answer_inputs
from elmo_tasks.predictors.answer_tables import form_of
from elmo_tasks.predictors.text_inputs import read_inputs
from elmo_tasks.predictors.text_predictor import TextPredictor
from elmo_tasks.readers.tag import TagReader
from tests.readers.column_dress_test import Dress, Sentence, dressed, files

LABELS = ("O", "B-PER", "B-LOC", "B-geo", "B-Work_of-art")


class Numbers(TextPredictor):
    """Tags each token with its place in the sentence. It needs no model, and refuses a word."""

    columns_of_answer = ("tags", "tokens")

    def __init__(self, reader: TagReader, labels: tuple[str, ...] = LABELS) -> None:
        self._dataset_reader: Any = reader
        vocab = Vocabulary({"labels": dict.fromkeys(labels, 1)})
        self._model: Any = SimpleNamespace(vocab=vocab)

    def answers(self, inputs: list[Any]) -> list[Any]:
        if any("refused" in each["tokens"] for each in inputs):
            raise ValueError("a word that is refused")
        return [
            {"tokens": each["tokens"], "tags": [f"T-{k}" for k in range(len(each["tokens"]))]}
            for each in inputs
        ]


def predicted(source: Path, output: Path, reader: TagReader | None = None) -> str:
    """Returns the answers to a file as `predict` writes them."""
    predictor = Numbers(reader or choose_tags(source, None, "en"))
    inputs = read_inputs(str(source), predictor)
    assert form_of(output, inputs.kind, source=inputs.name) == "columns"
    columns = AnswerColumns(inputs.name, output, predictor)
    with output.open("w", encoding="utf-8") as file:
        file.writelines(columns.lines(answer_inputs(inputs, predictor)))
    return output.read_text(encoding="utf-8")


CONLL = """\
-DOCSTART- -X- O

# sent_id = 1
Tomas NNP B-PER
Berg NNP I-PER

# left out, but kept
It PRP O
rains VBZ O
"""


def test_a_file_in_columns_comes_back_with_the_tags_behind(tmp_path: Path) -> None:
    (tmp_path / "in.conll").write_text(CONLL)

    found = predicted(tmp_path / "in.conll", tmp_path / "out.conll")

    assert found == (
        "-DOCSTART- -X- O O\n\n# sent_id = 1\nTomas NNP B-PER T-0\nBerg NNP I-PER T-1\n\n"
        "# left out, but kept\nIt PRP O T-0\nrains VBZ O T-1\n"
    )


def test_a_tsv_has_tabs_and_pandas_reads_it(tmp_path: Path) -> None:
    lines = ["Sentence #,Word,Tag", "Sentence: 1,Tomas,B-PER", ',"a, b",O', "Sentence: 2,rains,O"]
    (tmp_path / "in.csv").write_text("\n".join(lines))

    predicted(tmp_path / "in.csv", tmp_path / "out.tsv")
    predicted(tmp_path / "in.csv", tmp_path / "out.csv")

    for name, separator in (("out.tsv", "\t"), ("out.csv", ",")):
        found = pandas.read_csv(tmp_path / name, sep=separator, dtype=str, keep_default_na=False)
        assert list(found) == ["Sentence #", "Word", "Tag", "predicted"]
        assert list(found["Word"]) == ["Tomas", "a, b", "rains"]
        assert list(found["predicted"]) == ["T-0", "T-1", "T-0"]


def test_conllu_keeps_comments_and_ranges_of_words(tmp_path: Path) -> None:
    def line(*values: str) -> str:
        return "\t".join([*values, *"_" * (10 - len(values))])

    lines = ["# text = Im Haus", line("1-2", "Im"), line("1", "In"), line("2", "dem")]
    (tmp_path / "in.conllu").write_text("\n".join([*lines, line("3", "Haus"), "", ""]))

    found = predicted(tmp_path / "in.conllu", tmp_path / "out.conll", TagReader("upos"))

    behind = ["# text = Im Haus", f"{lines[1]}\t_", f"{lines[2]}\tT-0", f"{lines[3]}\tT-1"]
    assert found.splitlines() == [*behind, line("3", "Haus") + "\tT-2", ""]


def test_a_sentence_without_an_answer_has_no_tags(tmp_path: Path) -> None:
    (tmp_path / "in.tsv").write_text("Tomas\tB-PER\n\nrefused\tO\nalso\tO\n\nBerg\tB-PER\n\n")

    with pytest.raises(ValueError, match="in.tsv:3: a word that is refused; .*: 1 of 3, in line 3"):
        predicted(tmp_path / "in.tsv", tmp_path / "out.tsv")

    assert (tmp_path / "out.tsv").read_text() == (
        "Tomas\tB-PER\tT-0\n\nrefused\tO\t_\nalso\tO\t_\n\nBerg\tB-PER\tT-0\n\n"
    )


def test_what_has_no_columns_is_said(tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("Tomas/B-PER sings/O\nIt/O rains/O\n")
    (tmp_path / "blanks.txt").write_text("Tomas B-PER\nsings O\n")
    reader = choose_tags(tmp_path / "in.txt", None, "en")

    with pytest.raises(ConfigurationError, match="in.txt has sentences of 'word/tag', not columns"):
        AnswerColumns(str(tmp_path / "in.txt"), "out.conll", Numbers(reader))
    with pytest.raises(ConfigurationError, match="the tag 'B-a place' has a blank in it: .* .tsv"):
        spaced = Numbers(reader, ("B-a place",))
        AnswerColumns(str(tmp_path / "blanks.txt"), "out.conll", spaced)


def test_other_suffixes_name_other_forms() -> None:
    for output in ("out.conll", "out.v4_conll", "out.tsv", "out", "out.iob2"):
        assert form_of(output, "columns", source="in.tsv") == "columns"
    assert form_of("out.csv", "columns", source="in.csv") == "columns"
    assert form_of("out.csv", "columns", source="in.conll") == "csv"
    assert form_of("out.txt", "columns", source="in.txt") == "text"
    assert form_of("out.jsonl", "columns", source="in.conll") == "json"
    assert form_of(None, "columns", source="in.conll") == "text"


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(files())
def test_a_file_in_any_dress_comes_back_in_it(
    tmp_path_factory: pytest.TempPathFactory, file: tuple[list[Sentence], Dress]
) -> None:
    sentences, dress = file
    folder = tmp_path_factory.mktemp("columns")
    source = folder / f"in{dress.suffix}"
    source.write_bytes(dressed(sentences, dress))
    try:
        reader = choose_tags(source, None, "en")
    except ValueError:
        # What is refused is tried in tests/readers/column_dress_test.py.
        return

    found = predicted(source, folder / "out.iob2", reader)

    was = dressed(sentences, dress).decode(dress.encoding)
    lines = [line.removesuffix("\r") for line in was.removesuffix("\n").split("\n")]
    tagged = found.removesuffix("\n").split("\n")
    tags = [f"T-{place}" for words, _ in sentences for place in range(len(words))]
    behind = [end[0] for line in tagged if (end := re.search(r"T-\d+$", line))]
    assert len(tagged) == len(lines)
    assert behind == tags
    for line, before in zip(tagged, lines):
        assert line.startswith(before.rstrip()), (line, before)
