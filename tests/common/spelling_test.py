from elmo_tasks.common.spelling import listed, nearest_or_all


def test_a_misspelt_name_is_answered_with_the_nearest_one_alone() -> None:
    assert nearest_or_all("blim", ["bilm", "store"]) == "; did you mean 'bilm'?"


def test_a_name_like_no_other_is_answered_with_the_names_there_are() -> None:
    assert nearest_or_all("x", ["bilm", "store"]) == "; there are bilm, store"
    assert nearest_or_all("x", []) == "; there are (none)"


def test_a_list_of_many_names_is_short() -> None:
    names = [f"column{number}" for number in range(300)]

    assert listed(names).endswith("column10, column11 and 288 more")
    assert len(listed(names)) < 150
