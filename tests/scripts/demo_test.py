import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_demo_trains_evaluates_and_predicts_offline_and_can_run_again(tmp_path: Path) -> None:
    for name in ("elmo_tasks", "fixtures", "training_configs", ".allennlp_plugins"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "scripts").mkdir()
    script = shutil.copy(ROOT / "scripts" / "demo.py", tmp_path / "scripts")
    # The files of an earlier demo.
    (tmp_path / "runs" / "demo" / "model").mkdir(parents=True)
    (tmp_path / "runs" / "demo" / "model" / "config.json").write_text("{}")
    nowhere = {f"{kind}_proxy": "http://127.0.0.1:9" for kind in ("http", "https", "all")}
    environment = {**os.environ, **nowhere, "HOME": str(tmp_path), "OMP_NUM_THREADS": "1"}

    run = subprocess.run(
        [sys.executable, script], env=environment, check=True, capture_output=True, text=True
    )

    for command in ("train", "evaluate", "predict"):
        assert f"$ elmo-tasks {command} " in run.stdout
    assert "accuracy: 1.0000" in run.stdout
    answers = [answer.split("\t") for answer in run.stdout.splitlines()[-3:]]
    labels = [label for label, _probability, _text in answers]
    assert (labels[0], labels[2]) == ("very positive", "very negative")
