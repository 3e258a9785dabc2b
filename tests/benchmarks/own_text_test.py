from pathlib import Path

from benchmarks.own_text.systems import _chosen


def test_a_biLM_is_a_name_or_the_folder_of_a_training(tmp_path: Path) -> None:
    (tmp_path / "bilm.libsonnet").write_text("{ options: {}, pretrained_file: 'weights.hdf5' }")

    assert _chosen("base") == "base"
    assert _chosen(str(tmp_path)) == {"options": {}, "pretrained_file": "weights.hdf5"}
