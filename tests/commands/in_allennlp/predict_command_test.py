"""Tests `elmo-tasks predict` with text as it comes."""

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from allennlp.common.util import JsonDict
from allennlp.data import DatasetReader, Instance
from allennlp.models import load_archive
from allennlp.predictors import Predictor

from elmo_tasks.commands.in_allennlp import predict_command
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.predictors.answer_lines import Answered, answer_inputs, text_of_answer
from elmo_tasks.predictors.input_records import Input, Inputs
from elmo_tasks.predictors.label_predictor import SstPredictor
from elmo_tasks.predictors.load import load
from elmo_tasks.predictors.text_inputs import read_inputs
from elmo_tasks.predictors.text_predictor import TextPredictor, one_line
from tests.helpers.archives import task_model
from tests.helpers.command_line import our_command
from tests.helpers.configs import ROOT

SST = ROOT / "fixtures" / "archives" / "sst.tar.gz"
EXPECTED_JSON = "expected one JSON object on each line"
LANGUAGE_MODEL = ROOT / "fixtures" / "archives" / "language_model.tar.gz"
SENTENCES = ["A film of charm.", "It isn't bad.", "Dull, dull, dull."]


@pytest.fixture
def say(capsys: pytest.CaptureFixture) -> Any:
    """Returns a function that runs `elmo-tasks predict` and returns what it prints."""

    def run(archive: Path, path: Path | str, *args: object) -> list[str]:
        capsys.readouterr()
        our_command("predict", archive, path, *args)
        return capsys.readouterr().out.splitlines()

    return run


@pytest.fixture(scope="module")
def lines() -> list[str]:
    """The readable answers to the sentences."""
    predictor: Any = Predictor.from_archive(load_archive(SST))
    answers = [predictor.predict_json({"sentence": sentence}) for sentence in SENTENCES]
    return [predictor.dump_text(answer).rstrip("\n") for answer in answers]


def test_each_line_of_a_text_has_a_readable_answer(
    say: Any, tmp_path: Path, lines: list[str]
) -> None:
    (tmp_path / "in.txt").write_text("\n\n".join(SENTENCES) + "\n")

    label, probability, tokens = lines[1].split("\t")
    assert label in ("positive", "negative", "neutral", "very positive", "very negative")
    assert 0.2 <= float(probability) <= 1 and tokens == "It is n't bad ."
    assert say(SST, tmp_path / "in.txt") == lines
    # Neither a mark of no width nor a tab makes a line empty.
    (tmp_path / "in.txt").write_text("A film.\n\u200b\nBad.\n\ta\n")
    assert len(say(SST, tmp_path / "in.txt")) == 4


def test_the_standard_input_is_text_or_json(
    say: Any, monkeypatch: pytest.MonkeyPatch, lines: list[str]
) -> None:
    for mark in ("", "\ufeff"):
        content = mark + "\n".join(SENTENCES)
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content.encode())))
        assert say(SST, "-") == lines

    asked = {"sentence": SENTENCES[0]}
    content = json.dumps(asked) + "\n"
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content.encode())))
    said = say(SST, "-")
    assert json.loads(said[0])["label"] == lines[0].split("\t")[0] and len(said) == 1


def test_a_table_has_a_column_of_texts(say: Any, tmp_path: Path, lines: list[str]) -> None:
    rows = "".join(f'{k},"{sentence}"\n' for k, sentence in enumerate(SENTENCES))
    for column in ("sentence", "text", "a review"):
        chosen = ("--column", column) if column == "a review" else ()
        (tmp_path / "in.csv").write_text(f"id,{column}\n{rows}")
        said = say(SST, tmp_path / "in.csv", *chosen)
        assert said == [f"{line}\tid: {k}" for k, line in enumerate(lines)]

    (tmp_path / "in.csv").write_text(rows)
    said = say(SST, tmp_path / "in.csv", "--no-header", "--column", 2)
    assert said == [f"{line}\t1: {k}" for k, line in enumerate(lines)]


@pytest.mark.parametrize("batch_size", [1, 2, 32])
def test_texts_are_answered_in_text_or_in_json(
    say: Any, tmp_path: Path, lines: list[str], batch_size: int
) -> None:
    (tmp_path / "in.txt").write_text("\n".join(SENTENCES))
    out = tmp_path / "out"
    command = (SST, tmp_path / "in.txt", "--silent", "--output-file", out, "--force")

    say(*command, "--batch-size", batch_size)
    as_text = out.read_text().splitlines()
    say(*command, "--batch-size", batch_size, "--jsonl")
    as_json = [json.loads(line) for line in out.read_text().splitlines()]

    assert as_text == lines
    assert [answer["label"] for answer in as_json] == [line.split("\t")[0] for line in lines]


def test_a_language_model_says_its_perplexities(say: Any, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("the dog saw a cat .\n")

    (line,) = say(LANGUAGE_MODEL, tmp_path / "in.txt")

    forward, backward, tokens = line.split("\t")
    assert float(forward) > 1 and float(backward) > 1 and tokens == "the dog saw a cat ."


# The name of a file, its text, options, and the message after its path.
REFUSED: list[tuple[str, str, list[str], str]] = [
    ("in.csv", "id,words\n1,a\n", [], ":1: there is no column text; there are id, words"),
    ("in.csv", "", [], " is empty"),
    ("in.csv", "sentence\n", [], " has no input: expected a line of text or JSON, or a row"),
    ("in.txt", " \n\n", [], " has no input: expected a line of text or JSON, or a row"),
    ("in.txt", "Rain.\n", ["--column", "review"], " is not a table"),
]


@pytest.mark.parametrize(("name", "text", "options", "message"), REFUSED)
def test_a_file_that_cannot_be_read_is_refused(
    say: Any, tmp_path: Path, name: str, text: str, options: list[str], message: str
) -> None:
    path = tmp_path / name
    path.write_text(text)

    with pytest.raises(ValueError) as caught:
        say(SST, path, *options)
    assert str(caught.value).startswith(f"{path}{message}")


# Lines that are no input, and the reason.
BAD_LINES = [
    ("A film.", f"{EXPECTED_JSON}, but got 'A film.'"),
    ('{"sentence": "a"', f"{EXPECTED_JSON}, but got"),
    ('["a"]', f"{EXPECTED_JSON}, but got '[\"a\"]' (no JSON object)"),
    ('{"sentence": "\\ud83d"}', f"{EXPECTED_JSON}, but got"),
    ('{"sentence": ""}', "there is no word in the sentence"),
    ('{"tokens": []}', "there is no word in the sentence"),
    ('{"words": "a"}', 'expected {"sentence": "raw text"} or {"tokens": ["one", "word", "each"]}'),
    ('{"sentence": 7}', 'expected {"sentence": "raw text"} or'),
    ('{"tokens": "a"}', "tokens must be a list of words, but is 'a'"),
]


@pytest.mark.parametrize("batch_size", [1, 2, 32])
def test_a_bad_line_has_an_error_in_its_place_and_the_others_their_answers(
    tmp_path: Path, batch_size: int, capsys: pytest.CaptureFixture
) -> None:
    path = tmp_path / "in.jsonl"
    good = [json.dumps({"sentence": sentence, "id": 7}) for sentence in SENTENCES]
    inputs = [good[0], "", *(line for line, _ in BAD_LINES), good[1], good[2]]
    path.write_text("\n".join(inputs) + "\n")
    (tmp_path / "good.jsonl").write_text("\n".join(good))
    size = ("--batch-size", batch_size)
    capsys.readouterr()

    our_command("predict", SST, tmp_path / "good.jsonl", *size)
    expected = capsys.readouterr().out.splitlines()
    with pytest.raises(ValueError) as caught:
        our_command("predict", SST, path, *size)
    found = capsys.readouterr().out.splitlines()

    lines = range(3, 3 + len(BAD_LINES))
    for answer, same in zip(map(json.loads, [found[0], *found[-2:]]), map(json.loads, expected)):
        assert list(answer) == list(same) and answer["tokens"] == same["tokens"]
        assert answer["probabilities"] == pytest.approx(same["probabilities"], abs=1e-6)
    for line, answer, (_, message) in zip(lines, map(json.loads, found[1:-2]), BAD_LINES):
        assert list(answer)[-2:] == ["error", "line"] and answer["line"] == line
        assert answer["error"].startswith(message)
    assert str(caught.value).startswith(f"{path}:3: {BAD_LINES[0][1]}")
    numbers = ", ".join(map(str, lines))
    assert str(caught.value).endswith(f"without an answer: 9 of 12, in line {numbers}")


def test_an_error_keeps_the_fields_of_its_input(say: Any, tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text(json.dumps({"id": "a\x1b", "line": 5, "sentence": " "}) + "\n")

    with pytest.raises(ValueError):
        say(SST, path)

    error = {"error": "there is no word in the sentence", "line": 1}
    expected = {"id": "a\x1b", "input_line": 5, "sentence": " ", **error}
    assert json.loads(capsys.readouterr().out) == expected


def test_an_error_in_text_is_a_line_with_a_mark(
    say: Any, tmp_path: Path, lines: list[str], monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    original = SstPredictor._json_to_instance

    def refusing(self: SstPredictor, inputs: JsonDict) -> Instance:
        if inputs["sentence"] == SENTENCES[1]:
            raise ValueError("no\n\x1b[2Jsense")
        return original(self, inputs)

    monkeypatch.setattr(SstPredictor, "_json_to_instance", refusing)
    rows = "".join(f'"{sentence}",{k}\n' for k, sentence in enumerate(SENTENCES))
    (tmp_path / "in.csv").write_text(f"sentence,id\n{rows}")

    with pytest.raises(ValueError, match="in.csv:3: no .*sense; .*: 1 of 3, in line 3"):
        say(SST, tmp_path / "in.csv")

    assert capsys.readouterr().out.splitlines() == [
        f"{lines[0]}\tid: 0",
        "ERROR line 3: no \\x1b[2Jsense\tid: 1",
        f"{lines[2]}\tid: 2",
    ]


def test_an_answer_that_is_not_finite_is_an_error(
    say: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    original = SstPredictor.answers

    def overflowing(self: SstPredictor, inputs: list[JsonDict]) -> list[JsonDict]:
        answers = original(self, inputs)
        for each, answer in zip(inputs, answers):
            if each["sentence"] == SENTENCES[2]:
                answer["probabilities"]["positive"] = float("nan")
        return answers

    monkeypatch.setattr(SstPredictor, "answers", overflowing, raising=False)
    (tmp_path / "in.txt").write_text("\n".join(SENTENCES))

    with pytest.raises(ValueError, match=":3: the answer has a number that is not finite; the w"):
        say(SST, tmp_path / "in.txt", "--jsonl")

    *good, bad = map(json.loads, capsys.readouterr().out.splitlines())
    assert [list(each)[0] for each in good] == ["label", "label"]
    assert bad["error"].startswith("the answer has a number that is not finite")


def test_what_was_read_before_a_damaged_line_is_answered(
    say: Any, tmp_path: Path, lines: list[str], capsys: Any
) -> None:
    path = tmp_path / "in.txt"
    path.write_bytes(f"{SENTENCES[0]}\n{SENTENCES[1]}\ncaf\xe9\n".encode("latin-1"))

    with pytest.raises(ValueError, match="in.txt:3: not UTF-8"):
        say(SST, path)

    assert capsys.readouterr().out.splitlines() == lines[:2]


def test_a_file_of_answers_appears_whole(
    say: Any, tmp_path: Path, lines: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, output = tmp_path / "in.txt", tmp_path / "out.txt"
    path.write_bytes(f"{SENTENCES[0]}\n{SENTENCES[1]}\ncaf\xe9\n".encode("latin-1"))

    with pytest.raises(ValueError):
        say(SST, path, "--output", output)
    assert output.read_text().splitlines() == lines[:2]

    path.write_text("\n\n")
    with pytest.raises(ValueError):
        say(SST, path, "--output", tmp_path / "empty.txt")

    def interrupted(*args: Any) -> Iterator[Answered]:
        yield next(answer_inputs(*args))
        raise KeyboardInterrupt

    path.write_text("\n".join(SENTENCES))
    monkeypatch.setattr(predict_command, "answer_inputs", interrupted)
    for name in ("broken.jsonl", "broken.csv"):
        with pytest.raises(KeyboardInterrupt):
            say(SST, path, "--output", tmp_path / name)
    assert {each.name for each in tmp_path.iterdir()} == {"in.txt", "out.txt"}


@pytest.mark.parametrize("size, expected", [((), 1), (("--batch-size", 2), 2)])
def test_who_types_an_input_gets_its_answer_at_once(
    say: Any, size: Any, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = []

    def answer_inputs(inputs: Inputs, predictor: Predictor, size: int) -> list[Answered]:
        sizes.append(size)
        return []

    monkeypatch.setattr(predict_command, "answer_inputs", answer_inputs)
    typed = io.TextIOWrapper(io.BytesIO(b"A film.\n"))
    monkeypatch.setattr(typed, "isatty", lambda: True)
    monkeypatch.setattr("sys.stdin", typed)

    say(SST, "-", *size)

    assert sizes == [expected]


def test_rows_without_a_text_have_an_empty_answer_and_are_counted(
    say: Any, tmp_path: Path, lines: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "in.csv"
    path.write_text(f'sentence,id\n" ",1\n{SENTENCES[0]},2\n,3\n')

    assert say(SST, path) == ["\tid: 1", f"{lines[0]}\tid: 2", "\tid: 3"]
    assert "in.csv: no answer for 2 rows without a text (lines 2, 4)" in caplog.text
    first, second, third = map(json.loads, say(SST, path, "--jsonl"))
    assert first == {"label": None, "sentence": " ", "id": "1"}
    assert second["sentence"] == SENTENCES[0] and second["label"] == lines[0].split("\t")[0]
    assert third == {"label": None, "sentence": "", "id": "3"}


class Pairs(TextPredictor):
    """A predictor of pairs that needs no model."""

    input_names = ("premise", "hypothesis")


class Columns(Predictor):
    """A predictor of somebody else, with lines of its own."""

    def load_line(self, line: str) -> JsonDict:
        return {"fields": line.split("|"), "end": line[-1]}


@pytest.fixture(scope="module")
def model() -> Any:
    return load_archive(SST).model


READER = DatasetReader()


def test_two_texts_are_columns_of_a_table(model: Any, tmp_path: Path) -> None:
    path = tmp_path / "in.tsv"
    path.write_text("id\thypothesis\tpremise\n1\tb\ta\n2\td\tc\n")

    inputs = read_inputs(str(path), Pairs(model, READER))

    assert not inputs.are_json
    assert [each[1:3] for each in inputs.records] == [
        (2, {"premise": "a", "hypothesis": "b", "id": "1"}),
        (3, {"premise": "c", "hypothesis": "d", "id": "2"}),
    ]
    with pytest.raises(ValueError, match="this model reads the columns premise and hypothesis"):
        list(read_inputs(str(path), Pairs(model, READER), "id").records)
    path.write_text("id\thypothesis\n1\tb\n")
    with pytest.raises(ValueError, match="in.tsv:1: there is no column premise"):
        list(read_inputs(str(path), Pairs(model, READER)).records)


def test_two_texts_are_not_plain_text(model: Any, tmp_path: Path) -> None:
    path = tmp_path / "in.txt"
    path.write_text("\nA film.\n")

    with pytest.raises(ValueError, match="in.txt:2: expected JSON or a table .* with premise and"):
        read_inputs(str(path), Pairs(model, READER))


def test_questions_about_one_long_passage(say: Any, tmp_path: Path) -> None:
    squad = task_model(tmp_path, "squad", "input")
    manual, questions = tmp_path / "manual.txt", tmp_path / "questions.txt"
    # Offsets count a line end as one character, as text that Python reads.
    manual.write_bytes(b"\xef\xbb\xbf" + b"The owl sleeps all day.\r\n\r\n" * 80)
    text = manual.read_text(encoding="utf-8-sig")
    questions.write_text("Who sleeps?\n\nWhen?\n")
    options = ("--passage", manual, "--top-k", 2)

    lines = say(squad, questions, *options)
    answers = list(map(json.loads, say(squad, questions, *options, "--jsonl")))
    output = tmp_path / "answers.csv"
    assert say(squad, questions, *options, "--output", output) == []

    expected = load(squad).predict(["Who sleeps?", "When?"], passage=text, top_k=2)
    assert [answer.pop("question") for answer in answers] == ["Who sleeps?", "When?"]
    assert answers == expected
    assert lines == [line for each in expected for line in load(squad).predictor.readable(each)]
    with output.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["paragraph"] for row in rows] == [each["paragraph"] for each in expected]
    assert list(rows[0]) == ["question", "answer", "probability", "start", "end", "paragraph"]
    with pytest.raises(ConfigurationError):
        say(squad, questions, *options, "--output", manual, "--force")
    manual.write_text(" \n")
    with pytest.raises(ValueError, match="manual.txt: there is no word in the passage"):
        say(squad, questions, *options)
    with pytest.raises(ValueError, match="this model takes no top_k for all inputs"):
        say(SST, questions, "--top-k", 2)


def test_other_predictors_read_each_line_themselves(model: Any, tmp_path: Path) -> None:
    for name in ("in.csv", "in.txt"):
        (tmp_path / name).write_text("a|b\n\nc\n")

        inputs = read_inputs(str(tmp_path / name), Columns(model, READER))

        assert [each[1:3] for each in inputs.records] == [
            (1, {"fields": ["a", "b\n"], "end": "\n"}),
            (3, {"fields": ["c\n"], "end": "\n"}),
        ]


def test_a_readable_line_has_no_line_ends_or_tabs_within() -> None:
    assert one_line("a\tb\nc", 0.126, 3) == "a b c\t0.13\t3"


def test_control_characters_of_further_fields_are_escaped_in_text(model: Any) -> None:
    asked = {"sentence": "a", "id": "\x1b[2J"}
    found = Answered(Input("in", 1, asked, asked), ValueError("no"))

    assert text_of_answer(found, SstPredictor(model, READER)) == (
        "ERROR line 1: no\tid: \\x1b[2J\n"
    )


@pytest.mark.parametrize("command", ["predict", "evaluate"])
def test_a_gpu_that_is_not_there_is_said_before_the_model_is_opened(command: str) -> None:
    with pytest.raises(ValueError, match="--cuda-device 99"):
        our_command(command, "nowhere", ROOT / "fixtures" / "sst.txt", "--cuda-device", 99)
