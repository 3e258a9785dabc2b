from elmo_tasks.analysis.probe.most_frequent import MostFrequent


def single(tags: str) -> list[tuple[str, ...]]:
    return [(tag,) for tag in tags.split()]


def test_a_word_has_its_most_frequent_tag_and_an_unknown_one_that_of_all() -> None:
    most_frequent = MostFrequent("a b a c a d".split(), single("X Y Z Y Z Y"))

    assert [most_frequent.of(key) for key in "abce"] == ["Z", "Y", "Y", "Y"]
    assert "a" in most_frequent and "e" not in most_frequent


def test_of_two_as_frequent_the_first_is_taken() -> None:
    most_frequent = MostFrequent("a a".split(), single("X Y"))

    assert most_frequent.of("a") == most_frequent.of_all == "X"


def test_the_back_off_has_the_tag_of_words_that_the_training_data_lacks_alone() -> None:
    back_off = {"a": "N", "e": "M"}

    most_frequent = MostFrequent("a b b".split(), single("X Y Y"), back_off)

    assert [most_frequent.of(key) for key in "abef"] == ["X", "Y", "M", "Y"]
    assert "e" not in most_frequent


def test_a_token_with_several_tags_counts_for_each() -> None:
    most_frequent = MostFrequent("a a a".split(), [("X", "Y"), ("Y",), ("Z",)])

    assert most_frequent.of("a") == "Y"
