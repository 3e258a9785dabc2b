"""Configs of `training_configs/probe` with the biLM and the data of the fixtures."""

from pathlib import Path

from tests.helpers.configs import FIXTURE_BILM

ROOT = Path(__file__).parents[2]
CONFIGS = {"pos": "fixtures/ner.txt", "senses": "fixtures/senses.txt"}


def config_file(folder: Path, name: str, change: str = "{}") -> Path:
    path = folder / f"{name}.jsonnet"
    data = f"train_data_path: '{CONFIGS[name]}', validation_data_path: '{CONFIGS[name]}'"
    path.write_text(
        f"(import '{ROOT}/training_configs/probe/{name}.jsonnet')"
        f" {{ bilm: {FIXTURE_BILM}, {data} }} + {change}"
    )
    return path
