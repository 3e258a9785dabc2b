import pytest

from elmo_tasks.serve.word_count import count_words


@pytest.mark.parametrize(
    "value, expected",
    [
        ("Two words.", 3),
        ("", 0),
        ({"tokens": ["A", "b-c"], "top_k": 5}, 4),
        # Vowel signs belong to a word of Hindi; Chinese is cut into characters.
        ("बिल्ली सो रही है।", 5),
        ("猫在睡觉。", 5),
        ([{"a": "x y"}, {"b": {"c": ["z"]}}, None, 3.5], 3),
    ],
)
def test_words_and_marks_of_all_strings_are_counted(value: object, expected: int) -> None:
    assert count_words(value) == expected
