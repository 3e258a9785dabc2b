"""What the readers of all tasks promise."""

import copy
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from allennlp.common import Params
from allennlp.data import DatasetReader, Instance, Token
from allennlp.data.dataset_readers import WorkerInfo

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.readers.fraction import FractionReader
from tests.helpers.configs import TASKS, tiny

# IMDB has the reader of `classify`; the others are no tasks.
every_task = pytest.mark.parametrize("task", TASKS)


def made(task: str) -> tuple[DatasetReader, str]:
    """Returns the reader of a task's config, and the path of the fixture."""
    config = tiny(task, "baseline")
    return DatasetReader.from_params(Params(config["dataset_reader"])), config["train_data_path"]


def described(instances: Iterable[Instance]) -> list[str]:
    """Returns all that the instances have, in an order that does not depend on theirs."""
    fields = [instance.human_readable_dict() for instance in instances]
    return sorted(json.dumps(each, default=str, sort_keys=True) for each in fields)


@every_task
@pytest.mark.parametrize("num_workers", [2, 12])
def test_workers_share_the_instances_out(task: str, num_workers: int) -> None:
    instances = []
    for worker in range(num_workers):
        reader, path = made(task)
        reader._set_worker_info(WorkerInfo(num_workers, worker))
        instances += list(reader.read(path))

    reader, path = made(task)
    assert described(instances) == described(reader.read(path)) != []


@every_task
def test_a_fraction_of_the_instances_can_be_read(task: str) -> None:
    reader, path = made(task)
    everything = described(reader.read(path))

    read = described(FractionReader(reader, 0.5).read(path))

    assert 0 < len(read) < len(everything)
    assert set(read) <= set(everything)


@every_task
def test_a_missing_file_is_refused(task: str) -> None:
    reader, path = made(task)
    missing = path.replace("fixtures/", "fixtures/no_")

    with pytest.raises(FileNotFoundError, match=missing):
        list(reader.read(missing))


def text(words: str, *predicates: str) -> str:
    """Returns a sentence in the columns word, predicate and roles, with predicates first."""
    rows = zip(*(column.split() for column in predicates))
    verbs = ["be"] * len(predicates) + ["-"] * 9
    return "".join(f"{' '.join(row)}\n" for row in zip(words.split(), verbs, map(" ".join, rows)))


def coref(*lines: str) -> str:
    return "\n".join(["#begin document (nw/a); part 000", *lines, "", "#end document", ""])


def squad(*questions: object, context: object = "The owl sleeps.") -> str:
    return json.dumps({"data": [{"paragraphs": [{"context": context, "qas": questions}]}]})


def pair(**fields: object) -> str:
    """Returns a line of SNLI with other values; `None` leaves a field out."""
    whole = {"gold_label": "neutral", "sentence1": "A man.", "sentence2": "A cat.", **fields}
    return json.dumps({name: value for name, value in whole.items() if value is not None})


CONLL: dict[str, Any] = {"type": "elmo_conll", "columns": ["word", "ner"]}
SRL: dict[str, Any] = {"type": "elmo_srl", "columns": ["word", "predicate", "roles"]}
SRL_INDEXED = {**SRL, "columns": ["index", *SRL["columns"]]}
COREF: dict[str, Any] = {"type": "elmo_coref", "columns": ["word", "speaker", "coreference"]}
SPANS: dict[str, Any] = {"type": "elmo_tag", "column": "spans", "spans": True}
QUESTION = {"id": "1", "question": "Who?", "answers": [{"text": "owl", "answer_start": 4}]}

# The reader (a name, or a config), a file's content, and words of the message behind its name. The
# file is named `in.` and the reader's format.
REFUSED: list[tuple[str | dict[str, Any], str | bytes | Mapping[str, object], str]] = [
    ("elmo_sst", "", ":1: the file is empty"),
    ("elmo_sst", "(3 good)\n\n(3 (2 So) (4 good)\n", ":3: the tree ends before 1 of its brackets"),
    ("elmo_sst", "(5 good)\n", ":1: column 1: expected a node such as .*label from 0 to 4.*'\\(5"),
    ("elmo_sst", b"(3 good)\n(3 caf\xe9)\n", ":2: not UTF-8: .*0xe9"),
    ("elmo_snli", "", " is empty: its first line must name the columns"),
    ("elmo_snli", pair(gold_label="maybe"), ":1: gold_label must be .*, not 'maybe'"),
    ("elmo_snli", pair(gold_label=None), ":1: there is no field gold_label; there are sentence1"),
    ("elmo_snli", {"gold_label": "neutral"}, ":1: there is no field sentence1"),
    (
        "elmo_snli",
        {"premise": "A.", "hypothesis": "B.", "label": 0},
        ":1: expected sentence1, sentence2 and gold_label, as in SNLI, but there are premise, "
        "hypothesis, label; .*elmo-tasks new classify .*in.jsonl --text NAME --text NAME",
    ),
    ("elmo_snli", pair(sentence1=["A"]), r":1: sentence1 must be text, not \['A'\]"),
    ("elmo_snli", pair(sentence2=" \u00a0"), ":1: there is no pair with both texts and"),
    ("elmo_snli", f"{pair()}\n\n{pair()[:20]}", ":3: not JSON: Unterminated string"),
    ("elmo_snli", f"{pair()}\n[{'1' * 60}]", r":2: expected a JSON object, not '\[1{39}'$"),
    ("elmo_snli", f"{pair()}\n".encode() + b'{"x": "caf\xe9"}', ":2: not UTF-8: .*0xe9"),
    (CONLL, "-DOCSTART- -X-\n\n", ":1: there is no sentence: expected a token on each line"),
    (CONLL, "Oslo I-LOC\nis\n", r":2: expected 2 columns \(word ner\), but got 1: 'is'"),
    (CONLL, "Oslo I-LOC\nis PERSON\n", ":2: 'PERSON' is not a tag of IOB1 or BIO: .* as B-PER"),
    (CONLL, b"Oslo I-LOC\nMalm\xe9 I-LOC\n", ":2: not UTF-8: .*0xe9"),
    (CONLL, "Oslo I-LOC\n\n\ufeffis O\n", ":3: the line begins with a byte order mark"),
    # A single tag of BIOUL makes the whole file one of BIOUL.
    (CONLL, "a I-PER\nb O\nc U-PER\n", ":1: I-PER cannot begin a sentence in BIOUL"),
    (CONLL, "a U-PER\nb O\nc B-PER\n", ":3: B-PER cannot end a sentence in BIOUL"),
    ({"type": "elmo_tag", "spans": True}, "a b\n", "the columns must have 'upos'"),
    (SPANS, {"text": "Rain", "spans": [[0, 3, "X"]]}, ":1: the span 0 to 3, 'Rai', does not begin"),
    (SPANS, {"text": "Rain", "spans": [[0, 4]]}, r":1: expected a span as .*, but got \[0, 4\]"),
    (SPANS, {"text": "Rain fell", "spans": [[0, 9, "X"], [5, 9, "Y"]]}, ":1: two spans overlap: '"),
    (SPANS, {"tokens": ["Rain"], "spans": ["N", "V"]}, ":1: there are 1 tokens, but 2 values of s"),
    (SPANS, {"tokens": ["Rain"], "tags": ["N"]}, ':1: expected an object with "tokens" and "spans'),
    (SPANS, {"text": "Rain"}, ':1: expected .* or with "text" and "spans", a list of spans'),
    (SRL, "#begin document\n", ":1: there is no sentence"),
    (SRL, "rain -\n", ":1: there is no predicate: the column predicate is -"),
    (SRL, text("a b", "(V*) (A1*"), ":2: the bracket of A1 is not closed within the sentence"),
    (SRL, text("a b c", "(V*) * *)"), r":3: '\*\)' closes a bracket, which is not open"),
    (SRL, text("a b c", "(V*) (A1* *A2)"), r":3: '\*A2\)' closes A2, which is not open"),
    (SRL, text("a b c", "(V*) (A1* (A2*)"), ":2: the bracket of A1 is not closed within the sent"),
    (SRL, text("a b c", "(V*) (A1(A2* *A1)A2)"), r":3: '\*A1\)A2\)' closes A1, which is not open"),
    (SRL, text("a b", "(V*) A1"), r":2: a column of roles cannot be 'A1': expected \*, \(ROLE\*"),
    (SRL, text("a b", "(V*) (*)"), r":2: a column of roles cannot be '\(\*\)'"),
    # Two columns for one token: two predicates at it.
    (SRL, "rain - * *\nfell fall (V*) (V*)\n", ":2: .* 1 predicates .* but 2 columns of roles"),
    (SRL, "rain rain (V*)\nfell fall *\n", ":2: .* 2 predicates .* but 1 columns of roles"),
    (SRL, "rain - (A0*)\nfell - *\n", ":1: .* 0 predicates .* but 1 columns of roles"),
    (SRL, "rain -\nfell fall (V*)\n", ":2: expected 0 columns of roles, as on the first .* got 1:"),
    (SRL, "rain\n", r":1: expected at least 2 columns \(word predicate roles\), but got 1: 'rain'"),
    (SRL_INDEXED, "0 a -\n1 b -\n0 c -\n", ":3: expected the index 2 .*'0'; a sentence ends with"),
    (SRL_INDEXED, "0 a -\nx b -\n", ":2: expected the index 1 of a token .*, but got 'x'"),
    ("elmo_coref", "", ":1: there is no document: expected '#begin document"),
    ("elmo_coref", "Yes - -\n", ":1: expected '#begin document .*', but got 'Yes - -'"),
    ("elmo_coref", "#begin document\n", ":1: expected '#begin document .*, but got '#begin docume"),
    ("elmo_coref", "\n#end document\n", ":2: expected '#begin document .*, but got '#end doc"),
    ("elmo_coref", coref(), ":1: the document nw/a has no sentence"),
    ("elmo_coref", coref("nw/a 0 2 He - - - - - - - * -"), ":2: expected the index 0 or 1 of a"),
    ("elmo_coref", coref("nw/a 0 0 He (0)"), ":2: expected at least 12 columns .*, but got 5"),
    (COREF, '{"doc_key": "a"}', r":1: expected \{\"doc_key\": .*, but got \{'doc_key': 'a'\}"),
    (COREF, '{"sentences": [["a"], 7], "clusters": []}', ":1: a sentence must be a list of words"),
    (COREF, '{"sentences": [[]], "clusters": []}', ":1: the document has no word"),
    (COREF, '{"sentences": [["a"]], "clusters": [[[0, 1]]]}', ":1: a mention must be the indices"),
    (
        COREF,
        '{"sentences": [["a"]], "clusters": [[[0, 0], [0, 0]]]}',
        ":1: a cluster has a mention",
    ),
    (
        COREF,
        '{"sentences": [["a"]], "clusters": [], "speakers": [["x", "y"]]}',
        ":1: speakers must be 1 names, one for each sentence, or",
    ),
    (
        COREF,
        '{"sentences": [["a"]], "clusters": [], "subtoken_map": [0]}',
        ":1: the sentences consist of parts of words",
    ),
    (COREF, coref("Yes - -", "no -"), r":3: expected 3 columns \(word .*, but got 2: 'no -'"),
    (COREF, coref("a - (0", "b - -"), r":2: the bracket '\(0' is not closed within the sentence"),
    (COREF, coref("a - (0", "", "b - 0)"), r":2: the bracket '\(0' is not closed within the sent"),
    (COREF, coref("a - -", "b - (1)|0)"), r":3: '\(1\)\|0\)' closes 0, which is not open"),
    (COREF, coref("a - -", "b - 7"), ":3: the column coreference cannot be '7': expected -"),
    (COREF, coref("a - (1(2)2)"), ":2: the column coreference cannot be"),
    (COREF, coref("a - (1)|(1)"), ":2: the cluster 1 has the mention that ends here twice"),
    ("elmo_squad", "", ":1: not JSON"),
    ("elmo_squad", '{\n"data": [\n}', ":3: not JSON"),
    ("elmo_squad", b'{"data": "\xff"}', ":1: not UTF-8"),
    ("elmo_squad", '{"data": []}', ": the file: there is no question"),
    ("elmo_squad", "\n[7]", r": \[0\]: expected an object with 'data'"),
    (
        "elmo_squad",
        '[{"text": "a"}]',
        r": \[0\]: expected an object with 'data', 'paragraphs', 'qas'",
    ),
    ("elmo_squad", '{"data": [{}, {"paragraphs": [7]}]}', r": data\[1\].paragraphs\[0\]: expected"),
    ("elmo_squad", '{"articles": []}', ": the file: expected an object with 'data', .*'articles'"),
    ("elmo_squad", {"data": "x" * 1000}, ": data: expected a list, but got .{80}$"),
    ("elmo_squad", squad({}), r": data\[0\].paragraphs\[0\].qas\[0\]: expected an object"),
    ("elmo_squad", squad("x"), r": .*qas\[0\]: expected an object with 'question', but got 'x'"),
    ("elmo_squad", squad(QUESTION, context=5), r": .*paragraphs\[0\].context: expected a string"),
    ("elmo_squad", squad(QUESTION, context=""), ": there is no question .*: 1 questions without a"),
    ("elmo_squad", squad({**QUESTION, "id": [5]}), r": .*qas\[0\].id: expected a string, but got"),
    ("elmo_squad", squad({**QUESTION, "answers": 7}), r": .*answers: expected an answer with 'te"),
    ("elmo_squad", squad({**QUESTION, "is_impossible": 0}), ": .*: expected true or false, but go"),
    *[
        ("elmo_squad", squad({**QUESTION, "answers": [answer]}), words)
        for answer, words in (
            ({"answer_start": 4}, r": .*answers\[0\].text: expected a string, but got None"),
            (
                {"text": "owl", "answer_start": "x"},
                ": .*start: expected a whole number, but got 'x",
            ),
            (
                {"text": "owl", "answer_start": 4.5},
                ": .*start: expected a whole number, but got 4.5",
            ),
            ({"text": "owl", "answer_start": True}, ": .*: expected a whole number, but got True"),
            (
                {"text": ["owl"], "answer_start": [1, 2]},
                r": .*: expected a list of 1, as many as te",
            ),
        )
    ],
    (
        "elmo_squad",
        squad({**QUESTION, "answers": []}),
        ": there is no question .*: 1 questions without an",
    ),
    ("elmo_classify", "", " has no row"),
    ("elmo_classify", {"txt": "a", "label": "a"}, ":1: there is no field text; did you mean 'txt'"),
    ("elmo_classify", {"text": ["a"], "label": "a"}, r":1: text must be text, not \['a'\]"),
    ("elmo_classify", {"text": "a"}, ":1: there is no field label; there are text"),
    ("elmo_classify", {"text": "a", "label": " "}, " has no row with a text and a label"),
    ("elmo_classify", {"text": "a", "label": ["a"]}, r":1: label must be a label, not \['a'\]"),
]

# Settings that cannot be, and what the message says of them.
REFUSED_SETTINGS: list[tuple[dict[str, Any], str]] = [
    ({"type": "elmo_sst", "granularity": "fine"}, "5-class, 3-class, 2-class, not 'fine'"),
    ({"type": "elmo_sst", "min_phrase_tokens": 0}, "min_phrase_tokens must be"),
    ({"type": "elmo_conll", "columns": ["ner"]}, "must have 'word' exactly once, but are ner"),
    ({"type": "elmo_conll", "tag_column": "tag"}, "must have 'tag' exactly once, but are word"),
    ({"type": "elmo_srl", "columns": ["word", "predicate"]}, "must have 'roles' exactly once"),
    ({"type": "elmo_srl", "columns": ["word", "word", "roles"]}, "must have 'word' exactly once"),
    ({"type": "elmo_srl", "columns": ["word", "roles"]}, "must have 'predicate' exactly once"),
    ({**COREF, "columns": ["word"]}, "must have 'coreference' exactly once"),
    ({**COREF, "columns": ["word", "word", "coreference"]}, "must have 'word' exactly once"),
    ({**COREF, "columns": [*COREF["columns"], "speaker"]}, "must have 'speaker' exactly once"),
    ({**COREF, "columns": [*COREF["columns"], *2 * ["roles"]]}, "must have 'roles' exactly once"),
    ({"type": "elmo_squad", "max_passage_tokens": 0}, "max_passage_tokens must be 1 or more"),
    ({"type": "elmo_squad", "paragraphs": 0}, "paragraphs must be 1 or more"),
    *[
        ({"type": "elmo_classify", "texts": texts}, "one or two columns")
        for texts in ([], ["a", "a"], ["a", "b", "c"])
    ],
    ({"type": "elmo_classify", "max_tokens": 0}, "max_tokens must be 1 or more"),
    ({"type": "elmo_sentences", "max_tokens": 0}, "max_tokens must be"),
    *[
        ({"type": "elmo_fraction", "reader": CONLL, "fraction": each}, "above 0 and at most 1, not")
        for each in (0, -0.5, 1.01)
    ],
]


@pytest.mark.parametrize(("params", "message"), REFUSED_SETTINGS)
def test_settings_that_cannot_be_are_refused(params: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        DatasetReader.from_params(Params(copy.deepcopy(params)))


# The arguments of `text_to_instance` for a text without a word.
WITHOUT_WORDS: list[tuple[str, tuple[Any, ...], str]] = [
    ("elmo_sst", ([],), "at least one token"),
    ("elmo_tag", ([],), "at least one token"),
    ("elmo_snli", ([], [Token("a")]), "the premise is empty: it must have at least one token"),
    ("elmo_snli", ([Token("a")], []), "the hypothesis is empty: it must have at least one token"),
    ("elmo_squad", ("", "Owl."), "there is no word in the question"),
    ("elmo_squad", ("Who?", " \n\u00a0"), "there is no word in the passage"),
    ("elmo_classify", ([[]],), "at least one word"),
]


@pytest.mark.parametrize(("name", "arguments", "message"), WITHOUT_WORDS)
def test_a_text_without_a_word_is_refused(
    name: str, arguments: tuple[Any, ...], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        DatasetReader.by_name(name)().text_to_instance(*arguments)


@pytest.mark.parametrize(("reader", "content", "words"), REFUSED)
def test_what_cannot_be_read_is_refused_with_its_file_and_place(
    reader: str | dict[str, Any],
    content: str | bytes | Mapping[str, object],
    words: str,
    tmp_path: Path,
) -> None:
    params = {"type": reader} if isinstance(reader, str) else dict(reader)
    suffix = "jsonl" if params["type"] == "elmo_classify" or isinstance(content, Mapping) else "txt"
    path = tmp_path / f"in.{suffix}"
    if isinstance(content, Mapping):
        content = json.dumps(content)
    path.write_bytes(content.encode() if isinstance(content, str) else content)

    with pytest.raises(ValueError) as refused:
        list(DatasetReader.from_params(Params(params)).read(path))

    message = str(refused.value)
    assert re.match(words, message.removeprefix(str(path))), message
