from elmo_tasks.analysis.probe.most_frequent import MostFrequent


def test_a_word_has_its_most_frequent_tag_and_an_unknown_one_that_of_all() -> None:
    most_frequent = MostFrequent("a b a c a d".split(), "X Y Z Y Z Y".split())

    assert [most_frequent.of(key) for key in "abce"] == ["Z", "Y", "Y", "Y"]
    assert "a" in most_frequent and "e" not in most_frequent


def test_of_two_as_frequent_the_first_is_taken() -> None:
    most_frequent = MostFrequent("a a".split(), "X Y".split())

    assert most_frequent.of("a") == most_frequent.of_all == "X"
