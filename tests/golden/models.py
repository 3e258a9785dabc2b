"""The answers of the trained models, in float32."""

import json
import shutil
from pathlib import Path
from typing import Any

import elmo_tasks

MODELS = Path(elmo_tasks.__file__).parent / "pretrained" / "models"
_TEXTS = json.loads(Path(__file__).with_name("inputs.json").read_text(encoding="utf-8"))
# Twenty inputs of each model. Each premise and each passage stands with several texts.
INPUTS: dict[str, list[dict[str, str]]] = {
    **{
        name: [{"sentence": each} for each in _TEXTS["sentences"]] for name in ("ner", "sst", "srl")
    },
    "snli": [{"premise": one, "hypothesis": each} for one, of in _TEXTS["pairs"] for each in of],
    "squad": [{"passage": one, "question": each} for one, of in _TEXTS["passages"] for each in of],
    "coref": [{"document": each} for each in _TEXTS["documents"]],
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
