from pathlib import Path

import pytest
from allennlp.data import Instance, Vocabulary

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.readers.coref import CorefReader
from elmo_tasks.readers.indexers import CharIdsIndexer
from elmo_tasks.readers.label_fields import GENRES, UNKNOWN_LABEL
from elmo_tasks.readers.sentences import SentencesReader
from tests.helpers.reading import words

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


def test_singletons_are_left_out_or_kept() -> None:
    without, kept = (
        list(CorefReader(singletons=each).read(FIXTURE))[0]["metadata"]["clusters"]
        for each in (False, True)
    )

    assert [len(cluster) for cluster in without] == [4, 2, 2]
    assert kept == without
    last = [list(CorefReader(singletons=each).read(FIXTURE))[4] for each in (False, True)]
    assert [min(map(len, each["metadata"]["clusters"])) for each in last] == [2, 1]


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


# Names of 30 letters take 2^30 steps. With the flag x, spaces count for nothing.
REPEATED = ["((?:[a-z_/0-9]+)+)!", "([a-z]+)*!", "([^)]a*)*!", "([a-z]+){9}!", "(.)(?:a|aa)*!"]
REPEATED += ["(?x)(a*) *!", "(a*)(?#x)*!"]


@pytest.mark.parametrize(
    ("pattern", "complaint"),
    [
        *[(each, "genre_pattern must have one group in brackets") for each in ("nw", "(?:nw)")],
        ("(", "is no regular expression"),
        *[(each, "and is not repeated") for each in REPEATED],
        *[(f"(.){20 * each}!", "at most 3 of") for each in ("a*", ".?", "(?:.|.)")],
        (f"({100 * 'a|'}b)", "at most 200 characters"),
    ],
)
def test_pattern_without_a_group_or_that_takes_long_is_refused(
    pattern: str, complaint: str
) -> None:
    with pytest.raises(ConfigurationError, match=complaint):
        CorefReader(genre_pattern=pattern)


TAKEN = ["([a-z]{2})/", "ontogum/GUM_([a-z]+)_", r"\w+_(?P<genre>.*?)-\d+", "(a|b|c)"]
TAKEN += ["(?:onto|)gum/(?:GUM|GENTLE)_([a-z]+)_", r"(?:train|dev)/(?P<genre>\w+?)_"]


@pytest.mark.parametrize("pattern", TAKEN)
def test_a_pattern_of_one_group_is_taken(pattern: str) -> None:
    CorefReader(genre_pattern=pattern)


def test_longer_document_than_max_words_is_refused_with_file_and_line() -> None:
    complaint = r"coref.gold_conll:26: the document has 27 words, but max_words is 20"

    with pytest.raises(ValueError, match=complaint):
        list(CorefReader(max_words=20).read(FIXTURE))


def test_wrong_mentions_are_refused_or_left_out_and_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    text = Path(FIXTURE).read_text(encoding="utf-8")
    path = tmp_path / "a.txt"
    # The bracket of cluster 1 in line 6 is not closed, and twelve are not opened.
    wrong = [text.replace("   1)\n", "   -\n", 1), *[text.replace("(2)", "2)", 1)] * 12]
    path.write_text("".join(wrong))

    with pytest.raises(ValueError, match=r"a.txt:5: the bracket '\(1' .* wrong_mentions: 'skip'"):
        list(CorefReader().read(path))
    with caplog.at_level("WARNING"):
        instances = list(CorefReader(wrong_mentions="skip").read(path))

    assert len(instances) == 13 * len(list(CorefReader().read(FIXTURE)))
    said = [record.getMessage() for record in caplog.records]
    assert said[0].startswith(f"{path}:5: the bracket '(1' is not closed within the sentence; the")
    assert len(said) == 11 and said[-1] == f"{path}: 13 wrong mentions are left out"


def test_a_language_model_reads_the_sentences_one_by_one() -> None:
    reader = CorefReader(token_indexers={"elmo": CharIdsIndexer()})
    documents = [instance["metadata"]["sentences"] for instance in reader.read(FIXTURE)]

    read = list(SentencesReader(reader=reader).sentences(FIXTURE))

    assert read == [sentence for sentences in documents for sentence in sentences]
