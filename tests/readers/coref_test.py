import json
import lzma
from pathlib import Path

import pytest
from allennlp.data import Instance, Vocabulary
from allennlp.data.dataset_readers import WorkerInfo

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.readers.coref import CorefReader, gold_clusters
from elmo_tasks.readers.coref_file import CorefDocument, read_coref
from elmo_tasks.readers.fields import GENRES, UNKNOWN_LABEL
from elmo_tasks.readers.indexers import CharIdsIndexer
from elmo_tasks.readers.sentences import SentencesReader
from tests.helpers.reading import words, write_file

FIXTURE = "fixtures/coref.gold_conll"


def genres(instances: list[Instance], vocab: Vocabulary) -> list[int]:
    for instance in instances:
        instance["genre"].index(vocab)
    return [instance["genre"].as_tensor({}).item() for instance in instances]


def test_a_part_of_a_document_is_an_instance() -> None:
    instances = list(CorefReader().read(FIXTURE))

    assert [len(instance["metadata"]["sentences"]) for instance in instances] == [3, 4, 2, 1, 5]
    third = instances[2]["metadata"]
    assert words(instances[2])[:4] == ["The", "mayor", "of", "Vellmar"]
    assert third["sentences"][1][0] == "Why"
    assert third["speakers"] == ["Ben"] * 6 + ["Ana"] * 7
    assert third["clusters"] == [[(0, 4), (8, 9)], [(3, 4), (10, 12)]]


def test_clusters_of_one_mention_are_scored_but_not_learnt_and_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    reader = CorefReader(columns=COLUMNS)
    path = write_file(tmp_path / "a.txt", document("He - (0)", "saw - -", "it - (1)", "he - (0)"))

    made = reader.text_to_instance([["Yes", "no"]], clusters=[[(0, 1)], [(0, 2), (1, 2)]])
    (read,) = reader.read(path)

    assert made["metadata"]["clusters"] == [[(0, 2), (1, 2)]]
    assert gold_clusters(made["metadata"].metadata) == [[(0, 2), (1, 2)], [(0, 1)]]
    assert gold_clusters(read["metadata"].metadata) == [[(0, 1), (3, 4)], [(2, 3)]]
    assert "1 clusters of one mention count as missed" in caplog.text


@pytest.mark.parametrize(
    ("clusters", "complaint"),
    [
        ([], "there is no mention in the documents"),
        ([[[0, 1], [2, 3]]], "no mention has one word; is the end of a mention its last word?"),
        ([[[0, 1], [2, 2]]], ""),
    ],
)
def test_odd_mentions_are_said(
    clusters: list, complaint: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    line = json.dumps({"sentences": [["Ann", "left"], ["She", "cried"]], "clusters": clusters})
    path = write_file(tmp_path / "a.jsonl", f"{line}\n")

    list(CorefReader().read(path))

    assert [record.getMessage() for record in caplog.records] == (
        [f"{path}: {complaint}"] if complaint else []
    )


def test_a_worker_says_nothing_of_the_mentions_that_others_read(
    caplog: pytest.LogCaptureFixture,
) -> None:
    reader = CorefReader()
    reader._set_worker_info(WorkerInfo(100, 99))

    assert list(reader.read(FIXTURE)) == [] and not caplog.records


def test_genres_are_the_group_of_the_pattern_and_unknown_ones_have_no_index() -> None:
    reader = CorefReader()
    instances = list(reader.read(FIXTURE))
    vocab = Vocabulary.from_instances(instances)
    others = [reader.text_to_instance([["Yes"]], genre=genre) for genre in ("bc", "tc", None)]

    found = genres(others, vocab)
    # Names that do not match have no genre.
    part = list(CorefReader(genre_pattern="bc/(fix)").read(FIXTURE))

    assert vocab.get_token_to_index_vocabulary(GENRES) == {"nw": 0, "bc": 1}
    assert genres(instances, vocab) == [0, 1, 1, 0, 0]
    assert found == [1, UNKNOWN_LABEL, UNKNOWN_LABEL]
    assert others[0]["metadata"].metadata == {"sentences": [["Yes"]], "speakers": [""]}
    assert genres(part, Vocabulary.from_instances(part)) == [-1, 0, 0, -1, -1]


REFUSED = [("nw", "one group in brackets"), ("(?:nw)", "one group"), ("(", "missing \\)")]


@pytest.mark.parametrize(("pattern", "complaint"), REFUSED)
def test_a_pattern_without_one_group_is_refused(pattern: str, complaint: str) -> None:
    with pytest.raises(ConfigurationError, match=complaint):
        CorefReader(genre_pattern=pattern)


def test_a_language_model_reads_the_sentences_one_by_one() -> None:
    reader = CorefReader(token_indexers={"elmo": CharIdsIndexer()})
    documents = [instance["metadata"]["sentences"] for instance in reader.read(FIXTURE)]

    read = list(SentencesReader(reader=reader).sentences(FIXTURE))

    assert read == [sentence for sentences in documents for sentence in sentences]


COLUMNS = ["word", "speaker", "coreference"]


def document(*lines: str) -> str:
    return "\n".join(["#begin document (nw/a); part 000", *lines, "", "#end document", ""])


def test_documents_are_read_with_their_speakers_and_mentions(tmp_path: Path) -> None:
    text = document("I Ann (0)", "left Ann -", "", "The Bob (1", "old Bob -", "man Bob 1)|(0)")
    path = write_file(tmp_path / "a.txt", text + document("Yes - -").replace("nw/a", "bc/b"))

    documents = list(read_coref(path, COLUMNS))

    assert documents == [
        CorefDocument(
            name="nw/a",
            sentences=[["I", "left"], ["The", "old", "man"]],
            speakers=["Ann", "Ann", "Bob", "Bob", "Bob"],
            clusters=[[(0, 1), (4, 5)], [(2, 5)]],
        ),
        CorefDocument("bc/b", [["Yes"]], ["-"], []),
    ]


def test_mentions_may_nest_in_their_own_cluster_cross_and_be_in_two_clusters(
    tmp_path: Path,
) -> None:
    lines = ["a - (0|(0", "b - 0)|(1|(7", "c - 0)", "d - 1)|7)"]
    path = write_file(tmp_path / "a.txt", document(*lines))

    (found,) = read_coref(path, COLUMNS)

    # The brackets of a cluster close the mention that began last; (0, 3) and (1, 4) cross.
    assert found.clusters == [[(0, 2), (0, 3)], [(1, 4)], [(1, 4)]]


def test_columns_of_conll_2012_are_read_whatever_the_number_of_predicates_is(
    tmp_path: Path,
) -> None:
    before = "nw/a 0 0 {} NN * - - - Ann *"
    lines = [before.format("He") + " (0)", "", before.format("ran") + " (V*) * * -"]
    path = write_file(tmp_path / "a.txt", document(*lines))

    (found,) = read_coref(path)

    assert found.sentences == [["He"], ["ran"]]
    assert (found.speakers, found.clusters) == (["Ann", "Ann"], [[(0, 1)]])


def test_packed_files_tabs_and_names_without_brackets_are_read(tmp_path: Path) -> None:
    text = document("Yes\t-\t(0)").replace("(nw/a); part 000", "letter one")
    path = tmp_path / "a.xz"
    path.write_bytes(lzma.compress(text.encode()))

    (found,) = read_coref(path, COLUMNS)

    assert (found.name, found.clusters) == ("letter one", [[(0, 1)]])


def test_json_lines_of_e2e_coref_are_read(tmp_path: Path) -> None:
    first = {
        "doc_key": "nw/a_0",
        "sentences": [["Ann", "left", "."], ["She", "ran"]],
        "speakers": [["x", "x", "x"], ["y", "y"]],
        "clusters": [[[3, 3], [0, 1]]],
    }
    second = {"sentences": [["Yes"], []], "speakers": ["z", ""], "clusters": []}
    path = write_file(tmp_path / "a.jsonlines", f"{json.dumps(first)}\n\n{json.dumps(second)}\n")

    documents = list(read_coref(path))
    instances = list(CorefReader().read(path))

    assert documents == [
        CorefDocument(
            "nw/a_0", [["Ann", "left", "."], ["She", "ran"]], [*"xxxyy"], [[(0, 2), (3, 4)]]
        ),
        CorefDocument("3", [["Yes"]], ["z"], []),
    ]
    assert genres(instances, Vocabulary.from_instances(instances)) == [0, UNKNOWN_LABEL]


def test_a_document_without_its_end_ends_before_the_next_and_this_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    text = document("Yes - (0)", "no - -")
    path = write_file(tmp_path / "a.txt", text.replace("#end document", "") + text[:-14])

    documents = list(read_coref(path, COLUMNS))

    assert documents == [CorefDocument("nw/a", [["Yes", "no"]], ["-", "-"], [[(0, 1)]])] * 2
    assert (
        "2 documents have no line '#end document', the first is the document of line 1"
        in caplog.text
    )


def test_other_columns_are_refused_with_how_to_name_them(tmp_path: Path) -> None:
    path = write_file(tmp_path / "a.txt", document("0 Yes (0)"))

    with pytest.raises(ValueError, match=r"a.txt:2: .*; set `columns` .* \['index', 'word', 'cor"):
        list(read_coref(path))
