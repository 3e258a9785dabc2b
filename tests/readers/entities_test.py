import pytest
from allennlp.data.dataset_readers.dataset_utils.span_utils import (
    InvalidTagSequence,
    bio_tags_to_spans,
    bioul_tags_to_spans,
    iob1_tags_to_spans,
    to_bioul,
)
from hypothesis import given
from hypothesis import strategies as st

from elmo_tasks.readers.entities import (
    Entity,
    TagError,
    has_ends,
    read_entities,
    split_tag,
    write_tags,
)

PER, LOC = (["B-PER", "I-PER"], ["B-LOC", "I-LOC"])
IOB = st.lists(st.sampled_from(["O", *PER, *LOC]), max_size=7)
BIOUL = st.lists(
    st.sampled_from(["O", *(f"{p}-{t}" for p in "BIUL" for t in ("PER", "LOC"))]), max_size=5
)


def inclusive(entities: list[Entity]) -> list[tuple[str, tuple[int, int]]]:
    """Returns the entities as AllenNLP's functions do, with inclusive ends."""
    return [(type_, (start, end - 1)) for type_, start, end in entities]


@given(IOB)
def test_tags_of_any_file_with_b_and_i_are_read_as_by_allennlp_and_written_as_bioul(
    tags: list[str],
) -> None:
    entities = read_entities(tags)

    assert sorted(inclusive(entities)) == sorted(iob1_tags_to_spans(tags))
    assert write_tags(entities, len(tags), "BIOUL") == to_bioul(tags)


@given(IOB)
def test_bio_is_read_as_by_allennlp_or_refused_as_by_allennlp(tags: list[str]) -> None:
    try:
        bioul = to_bioul(tags, encoding="BIO")
    except InvalidTagSequence:
        with pytest.raises(TagError, match="cannot .* in BIO"):
            read_entities(tags, "BIO")
        return

    entities = read_entities(tags, "BIO")

    assert sorted(inclusive(entities)) == sorted(bio_tags_to_spans(tags))
    assert write_tags(entities, len(tags), "BIOUL") == bioul
    assert write_tags(entities, len(tags), "BIO") == tags


@given(BIOUL)
def test_bioul_is_read_as_by_allennlp_or_refused_where_a_sequence_cannot_be(
    tags: list[str],
) -> None:
    try:
        spans = bioul_tags_to_spans(tags)
    except InvalidTagSequence:
        with pytest.raises(TagError, match="cannot .* in BIOUL"):
            read_entities(tags, "BIOUL")
        return
    # AllenNLP does not look at the types within an entity.
    try:
        entities = read_entities(tags, "BIOUL")
    except TagError as error:
        assert tags[error.index][2:] != tags[error.index - 1][2:]
        return
    assert inclusive(entities) == spans
    assert write_tags(entities, len(tags), "BIOUL") == tags


def test_prefixes_of_bioes_are_those_of_bioul() -> None:
    tags = ["S-PER", "O", "B-LOC", "I-LOC", "E-LOC"]

    assert read_entities(tags, "BIOUL") == [Entity("PER", 0, 1), Entity("LOC", 2, 5)]
    assert has_ends(["O", "S-PER"]) and has_ends(["U"]) and not has_ends(["O", "B-S", "I"])


def test_tags_without_a_type_are_read_and_written() -> None:
    entities = read_entities(["B", "I", "O", "B"])

    assert entities == [Entity("", 0, 2), Entity("", 3, 4)]
    assert write_tags(entities, 4, "BIOUL") == ["B", "L", "O", "U"]
    assert split_tag("B-LOC-part") == ("B", "LOC-part")


@pytest.mark.parametrize(
    ("tags", "scheme", "index", "reason"),
    [
        (["O", "I-PER"], "BIO", 1, "I-PER cannot follow O in BIO"),
        (["B-LOC", "I-PER"], "BIO", 1, "I-PER cannot follow B-LOC in BIO"),
        (["B-PER", "O"], "BIOUL", 1, "O cannot follow B-PER in BIOUL"),
        (["U-PER"], None, 0, "'U-PER' is not a tag of IOB1 or BIO"),
        (["O", "NNP"], "BIO", 1, "'NNP' is not a tag of BIO"),
        (["B-"], None, 0, "'B-' is not a tag"),
        ([""], None, 0, "'' is not a tag"),
        (["-PER"], None, 0, "'-PER' is not a tag"),
        (["O-PER"], None, 0, "'O-PER' is not a tag"),
        (["BI-PER"], "BIOUL", 0, "'BI-PER' is not a tag of BIOUL: expected O, or B or I or U or L"),
    ],
)
def test_what_a_scheme_does_not_have_is_refused_with_its_place(
    tags: list[str], scheme: str | None, index: int, reason: str
) -> None:
    with pytest.raises(TagError, match=reason) as error:
        read_entities(tags, scheme)

    assert error.value.index == index
