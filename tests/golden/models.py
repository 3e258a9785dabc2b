"""The answers of the six trained models, in float32."""

import json
import shutil
from pathlib import Path
from typing import Any

import elmo_tasks
from tests.golden.inputs import INPUTS

MODELS = Path(elmo_tasks.__file__).parent / "pretrained" / "models"


def in_float32(name: str, folder: Path) -> Path:
    """Copies a trained model, whose biLM chooses its dtype by the CPU, with float32 in place."""
    shutil.copytree(MODELS / name, folder)
    config = json.loads((MODELS / name / "config.json").read_text())
    config["model"]["text_embedder"]["bilm"]["dtype"] = "float32"
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def answers(name: str, folder: Path) -> list[dict[str, Any]]:
    return elmo_tasks.load(in_float32(name, folder / name)).predict(INPUTS[name])
