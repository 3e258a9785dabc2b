import random
import re

from elmo_tasks.readers.entities import read_entities
from elmo_tasks.readers.tokenizers import ElmoSpacyTokenizer
from scripts.everyday_names import PATTERNS, columns, read_patterns, write_out
from scripts.everyday_stories import read_words

WORDS = {
    "first": ["Ada"],
    "person": ["[PER <first>]", "[PER <first>]"],
    "people_of": ["<Italian|Italian>"],
}


def rows(pattern: str) -> list[tuple[str, str]]:
    """Returns the tokens and the tags of a pattern."""
    sentence = write_out(pattern, WORDS, random.Random(1))
    *lines, empty = columns(sentence, ElmoSpacyTokenizer())
    assert empty == ""
    return [(line.split(" ")[0], line.split(" ")[3]) for line in lines]


def test_names_and_words_are_drawn_also_within_each_other() -> None:
    assert rows("<person> left <with <first|first>|with <first|first>>.") == [
        ("Ada", "I-PER"),
        ("left", "O"),
        ("with", "O"),
        ("first", "O"),
        (".", "O"),
    ]


def test_an_article_fits_and_a_sentence_has_a_capital_or_none() -> None:
    assert rows("a [MISC <people_of>] cook") == [
        ("An", "O"),
        ("Italian", "I-MISC"),
        ("cook", "O"),
    ]
    assert rows("~ is <person> a UN chef?")[1:4] == [("ada", "I-PER"), ("a", "O"), ("un", "O")]


def test_entities_side_by_side_are_two() -> None:
    tags = [tag for _, tag in rows("[PER Ada Berg] [PER Bo] [LOC New York]")]

    assert tags == ["I-PER", "I-PER", "B-PER", "I-LOC", "I-LOC"]


def test_the_reader_finds_the_entities_of_each_pattern() -> None:
    words, chance = read_words() | read_words(PATTERNS), random.Random(1)
    tokenizer = ElmoSpacyTokenizer()
    patterns = read_patterns()
    assert len(patterns) > 200
    for pattern in patterns * 20:
        sentence = write_out(pattern, words, chance)
        assert not re.search(r"[][<>|~_@]", sentence.text), pattern
        lines = [line.split(" ") for line in columns(sentence, tokenizer) if line]
        assert "".join(line[0] for line in lines) == "".join(sentence.text.split())
        tokens = [line[0] for line in lines]
        found = [
            (type_, "".join(tokens[start:end]))
            for type_, start, end in read_entities([line[3] for line in lines])
        ]
        assert found == [
            (type_, "".join(sentence.text[start:end].split()))
            for type_, start, end in sentence.entities
        ]
