from pathlib import Path

import pytest
from allennlp.data import Vocabulary

from elmo_tasks.readers.entities import Entity
from elmo_tasks.readers.fields import written_scheme
from elmo_tasks.readers.tag import TagReader
from elmo_tasks.readers.tag_scheme import TagScheme

ENTITIES = [Entity("PER", 0, 1), Entity("PER", 1, 4), Entity("LOC", 5, 7)]

# What files write for the same entities, and what a vocabulary keeps of it.
WRITTEN = {
    "BIO B-TYPE O": "B-PER B-PER I-PER I-PER O B-LOC I-LOC",
    "IOB1 B-TYPE O": "I-PER B-PER I-PER I-PER O I-LOC I-LOC",
    "BIOES TYPE-B O": "PER-S PER-B PER-I PER-E O LOC-B LOC-E",
    "BIOUL b_TYPE o": "u_PER b_PER i_PER l_PER o b_LOC l_LOC",
    "BMES B/TYPE O": "S/PER B/PER M/PER E/PER O B/LOC E/LOC",
    "BMEWO B-TYPE O": "W-PER B-PER M-PER E-PER O B-LOC E-LOC",
}


@pytest.mark.parametrize("text", WRITTEN)
def test_a_vocabulary_keeps_how_the_data_write_tags(text: str, tmp_path: Path) -> None:
    tags = WRITTEN[text].split()
    lines = "".join(f"word\t{tag}\n" for tag in tags)
    (tmp_path / "train.tsv").write_text(lines)
    instances = list(TagReader("tag", True).read(tmp_path / "train.tsv"))
    Vocabulary.from_instances(instances).save_to_files(str(tmp_path / "vocabulary"))

    vocab = Vocabulary.from_files(str(tmp_path / "vocabulary"))

    assert (tmp_path / "vocabulary" / "written_tags.txt").read_text().strip() == text
    assert written_scheme(vocab).write(ENTITIES, len(tags)) == tags


def test_tags_without_prefixes_have_none_in_answers() -> None:
    scheme = TagScheme.of([["O", "PER", "PER"], ["LOC", "O"]])

    assert str(scheme) == "IO TYPE O"
    assert scheme.write(ENTITIES, 7) == "PER PER PER PER O LOC LOC".split()


def test_tags_without_types_are_prefixes() -> None:
    for tags in ("B I O B".split(), "B E O S".split()):
        scheme = TagScheme.of([tags])
        assert scheme.write([Entity("", 0, 2), Entity("", 3, 4)], 4) == tags


def test_a_model_that_does_not_tell_writes_bio() -> None:
    assert written_scheme(Vocabulary()) == TagScheme.parse("of a later version") == TagScheme()
    assert TagScheme().write(ENTITIES, 7) == WRITTEN["BIO B-TYPE O"].split()


def test_most_data_decide() -> None:
    vocab = Vocabulary({"written_tags": {"IOB1 B-TYPE O": 2, "BIOES B-TYPE O": 5}})

    assert written_scheme(vocab).name == "BIOES"
