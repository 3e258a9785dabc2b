from pathlib import Path

from benchmarks.own_text.__main__ import chart, name_of, rows
from benchmarks.own_text.systems import _chosen


def test_a_biLM_is_a_name_or_the_folder_of_a_training(tmp_path: Path) -> None:
    (tmp_path / "bilm.libsonnet").write_text("{ options: {}, pretrained_file: 'weights.hdf5' }")

    assert _chosen("base") == "base"
    assert _chosen(str(tmp_path)) == {"options": {}, "pretrained_file": "weights.hdf5"}


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
