import json
import logging
from pathlib import Path
from typing import Any

import pytest
from allennlp.data import Batch, Vocabulary
from allennlp.data.dataset_readers import Conll2003DatasetReader
from allennlp.data.tokenizers import WhitespaceTokenizer

from elmo_tasks.readers.entities import read_entities
from elmo_tasks.readers.fields import UNKNOWN_LABEL
from elmo_tasks.readers.tag import TagReader
from elmo_tasks.readers.tag_file import TaggedSentence
from tests.helpers.reading import words, write_file

FIXTURE = Path(__file__).parents[2] / "fixtures" / "tag.conllu"


def test_a_tag_that_the_training_lacks_has_an_index_that_no_model_predicts() -> None:
    instances = list(TagReader().read(FIXTURE))
    vocab = Vocabulary.from_instances(instances[:1])

    instances[1].index_fields(vocab)

    known = vocab.get_token_to_index_vocabulary("labels")
    tags = instances[1]["tags"].as_tensor(instances[1]["tags"].get_padding_lengths()).tolist()
    expected = "PRON VERB ADP DET NOUN PUNCT".split()
    assert tags == [known.get(tag, UNKNOWN_LABEL) for tag in expected] and tags[0] == UNKNOWN_LABEL


def test_spans_are_learnt_in_BIOUL_whatever_the_file_has() -> None:
    instances = list(TagReader(column="misc", spans=True).read(FIXTURE))

    assert instances[4]["tags"].labels == ["U-NAME", "O", "O", "O", "O", "O"]


ENTITIES = Path(__file__).parents[2] / "fixtures" / "ner.txt"
CONLL = Path(__file__).parents[2] / "data" / "conll2003"


def sentences(reader: TagReader, path: Path) -> list[tuple[list[str], list[str]]]:
    return [(words(instance), instance["tags"].labels) for instance in reader.read(path)]


def two_columns() -> TagReader:
    return TagReader.of_entities(columns=["word", "ner"])


def as_allennlp_reads(path: Path) -> list[tuple[list[str], list[str]]]:
    reader = Conll2003DatasetReader(convert_to_coding_scheme="BIOUL")
    return [(words(instance), instance["tags"].labels) for instance in reader.read(path)]


FILES = [
    (ENTITIES, 10, 17),
    (CONLL / "eng.train", 14_041, 23_499),
    (CONLL / "eng.testa", 3_250, 5_942),
]


@pytest.mark.parametrize(("path", "num_sentences", "num_entities"), FILES)
def test_entities_are_read_as_by_allennlp(
    path: Path, num_sentences: int, num_entities: int
) -> None:
    if not path.exists():
        pytest.skip(f"{path} is not there")

    read = sentences(TagReader.of_entities(), path)

    assert read == as_allennlp_reads(path)
    assert len(read) == num_sentences
    assert sum(len(read_entities(tags, "BIOUL")) for _, tags in read) == num_entities


def test_one_file_in_every_scheme_gives_the_same_instances(tmp_path: Path) -> None:
    expected = sentences(TagReader.of_entities(), ENTITIES)

    for letters in ({}, {"U": "B", "L": "I"}, {"U": "S", "L": "E"}):
        lines = [
            f"{word} {letters.get(tag[:1], tag[:1])}{tag[1:]}\n"
            for words, tags in expected
            for word, tag in zip([*words, ""], [*tags, ""])
        ]
        path = write_file(tmp_path / "ner.txt", "".join(lines))
        assert sentences(two_columns(), path) == expected


def test_columns_are_found_by_name(tmp_path: Path) -> None:
    path = write_file(tmp_path / "ner.txt", "1 B-NP B-PER Marta x\n2 I-NP O left y\n")
    columns = ["number", "chunk", "ner", "word", "other"]

    assert sentences(TagReader.of_entities(columns), path) == [(["Marta", "left"], ["U-PER", "O"])]

    chunks = TagReader.of_entities(columns, tag_column="chunk")

    assert sentences(chunks, path) == [(["Marta", "left"], ["B-NP", "L-NP"])]


def test_vocabulary_has_every_tag_of_every_type(tmp_path: Path) -> None:
    path = write_file(tmp_path / "ner.txt", "Oslo I-LOC\n")

    vocab = Vocabulary.from_instances(list(two_columns().read(path)))

    names = vocab.get_token_to_index_vocabulary("labels")
    assert set(names) == {"O", "B-LOC", "I-LOC", "U-LOC", "L-LOC"}


@pytest.mark.parametrize(
    ("reader", "name", "content", "message"),
    [
        (
            two_columns(),
            "in.txt",
            "\nThe O\nEuro B-CASH\nand O\nthe O\nyen B-CASH\n",
            "in.txt:3: the model does not know the label 'U-CASH'; .* on .*, B-ORG, B-PER",
        ),
        (
            TagReader("spans", spans=True),
            "in.jsonl",
            '{"text": "No.", "spans": []}\n{"text": "The euro.", "spans": [[4, 8, "CASH"]]}\n',
            "in.jsonl:2: .*U-CASH",
        ),
    ],
    ids=["columns", "JSON"],
)
def test_a_type_that_the_training_data_has_not_is_reported_with_file_and_line(
    reader: TagReader, name: str, content: str, message: str, tmp_path: Path
) -> None:
    vocab = Vocabulary.from_instances(list(TagReader.of_entities().read(ENTITIES)))
    batch = Batch(list(reader.read(write_file(tmp_path / name, content))))

    with pytest.raises(ValueError, match=message):
        batch.index_instances(vocab)


def test_raw_text_is_cut_by_the_tokenizer_that_is_given() -> None:
    tokenizer = WhitespaceTokenizer()

    assert TagReader.of_entities(tokenizer=tokenizer).tokenizer is tokenizer


def read(path: Path, column: str) -> list[TaggedSentence]:
    return list(TagReader(column).sentences(path))


def rows(folder: Path, *values: Any) -> Path:
    path = folder / "in.jsonl"
    path.write_text("".join(json.dumps(value) + "\n" for value in values), encoding="utf-8")
    return path


def test_a_column_of_conllu_is_read_by_its_name() -> None:
    upos, xpos = (read(FIXTURE, column) for column in ("upos", "xpos"))

    words = "The ferry left at noon .".split()
    tags = "DET NOUN VERB ADP NOUN PUNCT".split()
    assert upos[0] == TaggedSentence([3, 4, 5, 6, 7, 8], words, tags)
    assert xpos[0].tags == "DT NN VBD IN NN .".split()
    assert len(upos) == 10


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
    assert (third.lines, third.tags) == ([3, 3, 3], ["O", "O", "O"])


def test_json_may_have_tokens_and_their_tags(tmp_path: Path) -> None:
    path = rows(tmp_path, {"tokens": ["Rain", "fell"], "pos": ["N", "V"], "id": 1})

    assert [(each.words, each.tags) for each in read(path, "pos")] == [
        (["Rain", "fell"], ["N", "V"])
    ]


def test_what_a_user_of_prodigy_rejected_or_ignored_is_left_out_and_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "a.jsonl"
    row = {"text": "Eve sings", "spans": [{"start": 0, "end": 3, "label": "PER"}]}
    rows = [row | {"answer": answer} for answer in ("accept", "reject", "ignore")]
    path.write_text("".join(json.dumps(each) + "\n" for each in rows))

    with caplog.at_level(logging.WARNING):
        (instance,) = TagReader("spans", spans=True).read(path)
    assert instance["tags"].labels == ["U-PER", "O"]
    assert (
        'a.jsonl: left out 1 row with "answer": "reject" (line 2), 1 row with "answer": '
        '"ignore" (line 3)'
    ) in caplog.text


def test_json_without_a_sentence_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="in.jsonl:1: .* expected a sentence in each record"):
        list(TagReader("tag").read(rows(tmp_path)))
