"""Makes archives of small, untrained models with and without a biLM."""

import copy
import io
import json
import tarfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import torch
from allennlp.common import Params
from allennlp.data import DatasetReader, Vocabulary
from allennlp.models import Model, archive_model, load_archive
from allennlp.predictors import Predictor

from tests.helpers.configs import ROOT, tiny
from tests.helpers.reference_bilm import FIXTURE_FILES, make_options

FIXTURE = {
    "options": json.loads(FIXTURE_FILES[0].read_text()),
    "pretrained_file": str(FIXTURE_FILES[1]),
}
SENTENCES = [
    "the dog saw a cat in the old house .",
    "a cat saw the dog .",
    "the old dog and the cat sleep in a house",
    "in the house a dog barks , and the cat is gone .",
]


def make_archive(folder: Path, config: dict[str, Any]) -> Path:
    """Makes the `model.tar.gz` of an untrained model, in a folder as that of its training."""
    params = Params(copy.deepcopy(config))
    reader = DatasetReader.from_params(params.pop("dataset_reader"))
    instances = list(reader.read(params.pop("train_data_path")))
    vocab = Vocabulary.from_instances(instances, min_count={"tokens": 2})
    torch.manual_seed(0)
    model = Model.from_params(params.pop("model"), vocab=vocab)
    vocab.save_to_files(str(folder / "vocabulary"))
    Params(copy.deepcopy(config)).to_file(str(folder / "config.json"))
    torch.save(model.state_dict(), folder / "best.th")
    return Path(archive_model(folder))


def language_model(folder: Path, state: str = "reset") -> Path:
    """Makes the archive of a language model, whose biLM starts as `state` says."""
    text = folder / "text.txt"
    text.write_text("\n".join(SENTENCES) + "\n")
    bilm = {"options": make_options(), "requires_grad": True, "state": state}
    config = {
        "dataset_reader": {"type": "elmo_sentences"},
        "train_data_path": str(text),
        "model": {"type": "elmo_language_model", "bilm": bilm, "num_samples": 3},
    }
    return make_archive(folder, config)


def classifier(folder: Path, **embedders: dict[str, Any]) -> Path:
    """Makes an archive of AllenNLP's `basic_classifier` with further token embedders."""
    text = folder / "text.jsonl"
    lines = [{"text": line, "label": ("even", "odd")[k % 2]} for k, line in enumerate(SENTENCES)]
    text.write_text("\n".join(map(json.dumps, lines)))
    words = {"type": "embedding", "embedding_dim": 3}
    indexers = {name: {"type": "elmo_characters"} for name in embedders}
    config = {
        "dataset_reader": {
            "type": "text_classification_json",
            "tokenizer": "just_spaces",
            "token_indexers": {"tokens": {"type": "single_id"}, **indexers},
        },
        "train_data_path": str(text),
        "model": {
            "type": "basic_classifier",
            "text_field_embedder": {"token_embedders": {"tokens": words, **embedders}},
            "seq2vec_encoder": {
                "type": "bag_of_embeddings",
                "embedding_dim": 3 + 32 * len(embedders),
            },
        },
    }
    return make_archive(folder, config)


def sst(folder: Path, variant: str) -> Path:
    """Makes an archive of a shrunk config of training_configs/sst."""
    return task_model(folder, "sst", variant)


def task_model(folder: Path, task: str, variant: str, change: str = "{}") -> Path:
    """Makes an archive of a shrunk config of a task, changed by a jsonnet object."""
    config = tiny(task, variant, change)
    config["train_data_path"] = str(ROOT / config["train_data_path"])
    if "bilm" in config["model"]["text_embedder"]:
        config["model"]["text_embedder"]["bilm"] = FIXTURE
    return make_archive(folder, config)


def task_predictor(folder: Path, task: str, variant: str = "baseline", change: str = "{}") -> Any:
    """Makes the predictor of an untrained model of a task (see `task_model`)."""
    return Predictor.from_archive(load_archive(task_model(folder, task, variant, change)))


def set_mixes(folder: Path, **values: tuple[list[float], float]) -> None:
    """Sets the weights, before softmax, and gamma of the mixes in the folder of a training."""
    state = torch.load(folder / "best.th")
    for name, (weights, gamma) in values.items():
        prefix = f"text_embedder.{name}"
        state[f"{prefix}.scalar_parameters"] = torch.tensor(weights)
        state[f"{prefix}.gamma"] = torch.tensor([gamma])
    torch.save(state, folder / "best.th")


def repack(
    archive: Path,
    target: Path,
    config: Callable[[dict[str, Any]], Any] | None = None,
    members: Iterable[tarfile.TarInfo] = (),
) -> Path:
    """
    Packs the members of an archive once more, with a config that `config` changes in place, or
    returns as bytes, and with further members of zeros.
    """
    with tarfile.open(archive) as source, tarfile.open(target, "w:gz") as packed:
        for member in source.getmembers():
            content = source.extractfile(member)
            data = b"" if content is None else content.read()
            if member.name == "config.json" and config is not None:
                value = json.loads(data)
                changed = config(value)
                data = changed if isinstance(changed, bytes) else json.dumps(value).encode()
                member.size = len(data)
            packed.addfile(member, io.BytesIO(data))
        for member in members:
            packed.addfile(member, io.BytesIO(bytes(member.size)))
    return target


def member(name: str, size: int = 0, **fields: Any) -> tarfile.TarInfo:
    """Makes a member for `repack`; `fields` are attributes of `tarfile.TarInfo`."""
    made = tarfile.TarInfo(name)
    made.size = size
    for field, value in fields.items():
        setattr(made, field, value)
    return made
