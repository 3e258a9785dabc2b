import runpy
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from elmo_tasks import console

ROOT = Path(__file__).parents[2]


def test_demo_trains_evaluates_and_predicts_offline_and_can_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("elmo_tasks", "fixtures", "training_configs", ".allennlp_plugins"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "scripts").mkdir()
    script = shutil.copy(ROOT / "scripts" / "demo.py", tmp_path / "scripts")
    # The files of an earlier demo.
    (tmp_path / "runs" / "demo" / "model").mkdir(parents=True)
    (tmp_path / "runs" / "demo" / "model" / "config.json").write_text('{"model": {}}')
    for kind in ("http", "https", "all"):
        monkeypatch.setenv(f"{kind}_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)

    def run(command: list[str]) -> SimpleNamespace:
        """Runs a command in this process, which has imported AllenNLP already."""
        assert command[:3] == [sys.executable, "-m", "elmo_tasks"]
        monkeypatch.setattr(sys, "argv", ["elmo-tasks", *command[3:]])
        console.main()
        return SimpleNamespace(returncode=0)

    monkeypatch.setattr("subprocess.run", run)
    runpy.run_path(str(script), run_name="__main__")

    said = capsys.readouterr().out
    for command in ("train", "evaluate", "predict"):
        assert f"$ elmo-tasks {command} " in said
    assert "accuracy: 1.0000" in said
    answers = [answer.split("\t") for answer in said.splitlines()[-3:]]
    labels = [label for label, _probability, _text in answers]
    assert (labels[0], labels[2]) == ("very positive", "very negative")
