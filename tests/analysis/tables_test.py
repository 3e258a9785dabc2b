from elmo_tasks.analysis.tables import layer_name, table


def test_names_are_aligned_to_the_left_and_numbers_to_the_right() -> None:
    assert table(["name", "value"], [["a long one", "1.5"], ["b", "-20.25"]]).splitlines() == [
        "| name       | value  |",
        "| ---------- | ------ |",
        "| a long one |    1.5 |",
        "| b          | -20.25 |",
    ]


def test_layers_are_named_as_in_the_paper() -> None:
    assert [layer_name(index) for index in range(3)] == ["tokens", "LSTM 1", "LSTM 2"]
