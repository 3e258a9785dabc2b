"""The answers of the trained models, in float32."""

import json
import shutil
from pathlib import Path
from typing import Any

from allennlp.common.util import JsonDict

import elmo_tasks
from elmo_tasks.common.package_data import TRAINED
from tests.helpers.promises import promises

MODELS = Path(elmo_tasks.__file__).parent / "pretrained" / "models"
_TEXTS = json.loads(Path(__file__).with_name("inputs.json").read_text(encoding="utf-8"))
# Twenty inputs of each model. Each premise and each passage stands with several texts.
INPUTS: dict[str, list[JsonDict]] = {
    name: promises()[name].golden_inputs(_TEXTS) for name in TRAINED
}


def in_float32(name: str, folder: Path) -> Path:
    """Copies a trained model, whose biLM chooses its dtype by the CPU, with float32 in place."""
    shutil.copytree(MODELS / name, folder)
    config = json.loads((MODELS / name / "config.json").read_text())
    config["model"]["text_embedder"]["bilm"]["dtype"] = "float32"
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def answers(name: str, folder: Path) -> list[dict[str, Any]]:
    return elmo_tasks.load(in_float32(name, folder / name)).predict(INPUTS[name])
