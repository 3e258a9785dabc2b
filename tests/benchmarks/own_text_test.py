from benchmarks.own_text.__main__ import chart, name_of, rows


def test_a_table_and_a_chart_name_a_biLM_that_is_not_the_default() -> None:
    found = {"score": 0.5, "train": 1.0, "predict": 1.0, "labels": 50}
    keys = [f"tags|50|1|{name}" for name in ("TF-IDF|", "ELMo|base", "ELMo|runs/mine")]
    results = {key: {**found, "score": 0.1 * index} for index, key in enumerate(keys)}

    assert [name_of(key) for key in keys] == ["TF-IDF", "ELMo", "ELMo, runs/mine"]
    assert rows("tags", ["50", "all"], results) == [
        ["TF-IDF", "0.0", "", "1.0", "1.0"],
        ["ELMo", "10.0", "", "1.0", "1.0"],
        ["ELMo, runs/mine", "20.0", "", "1.0", "1.0"],
    ]
    drawn = chart(["tags"], results).axes[0].get_lines()
    assert [line.get_label() for line in drawn] == ["TF-IDF", "ELMo", "ELMo, runs/mine"]
