import lzma
from pathlib import Path

from elmo_tasks.readers.coref_file import CorefDocument, read_coref
from tests.helpers.reading import written

COLUMNS = ["word", "speaker", "coreference"]


def document(*lines: str) -> str:
    return "\n".join(["#begin document (nw/a); part 000", *lines, "", "#end document", ""])


def test_documents_are_read_with_their_speakers_and_mentions(tmp_path: Path) -> None:
    text = document("I Ann (0)", "left Ann -", "", "The Bob (1", "old Bob -", "man Bob 1)|(0)")
    path = written(tmp_path / "a.txt", text + document("Yes - -").replace("nw/a", "bc/b"))

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
    path = written(tmp_path / "a.txt", document(*lines))

    (found,) = read_coref(path, COLUMNS)

    # The brackets of a cluster close the mention that began last; (0, 3) and (1, 4) cross.
    assert found.clusters == [[(0, 2), (0, 3)], [(1, 4)], [(1, 4)]]


def test_columns_of_conll_2012_are_read_whatever_the_number_of_predicates_is(
    tmp_path: Path,
) -> None:
    before = "nw/a 0 0 {} NN * - - - Ann *"
    lines = [before.format("He") + " (0)", "", before.format("ran") + " (V*) * * -"]
    path = written(tmp_path / "a.txt", document(*lines))

    (found,) = read_coref(path)

    assert found.sentences == [["He"], ["ran"]]
    assert (found.speakers, found.clusters) == (["Ann", "Ann"], [[(0, 1)]])


def test_packed_files_tabs_and_names_without_brackets_are_read(tmp_path: Path) -> None:
    text = document("Yes\t-\t(0)").replace("(nw/a); part 000", "letter one")
    path = tmp_path / "a.xz"
    path.write_bytes(lzma.compress(text.encode()))

    (found,) = read_coref(path, COLUMNS)

    assert (found.name, found.clusters) == ("letter one", [[(0, 1)]])
