"""Changes of an archive's config that ask for files, addresses, code or memory of the reader."""

import copy
from collections.abc import Callable
from typing import Any

Change = Callable[[dict[str, Any]], Any]


def put(path: str, value: Any) -> Change:
    """Returns a change of a config that sets the value at a dotted path."""

    def change(config: dict[str, Any]) -> None:
        *parents, key = path.split(".")
        for parent in parents:
            config = config[parent]
        config[key] = copy.deepcopy(value)

    return change


_EMBEDDERS = "model.text_embedder.words.token_embedders"
_TRANSFORMER = {"type": "pretrained_transformer", "model_name": "owner/repo"}
_ARCHIVE = {"archive_file": "/any/model.tar.gz", "module_path": "encoder"}
_ELMO = {"type": "elmo_token_embedder", "weight_file": "http://127.0.0.1:9/weights.hdf5"}

# From the path that a message names to the change.
HOSTILE: dict[str, Change] = {
    f"{_EMBEDDERS}.x": put(
        f"{_EMBEDDERS}.x", {**_TRANSFORMER, "transformer_kwargs": {"weights_only": False}}
    ),
    f"{_EMBEDDERS}.cache": put(
        f"{_EMBEDDERS}.cache", {**_TRANSFORMER, "transformer_kwargs": {"cache_dir": "/any"}}
    ),
    f"{_EMBEDDERS}.mismatched": put(
        f"{_EMBEDDERS}.mismatched", {**_TRANSFORMER, "type": "pretrained_transformer_mismatched"}
    ),
    f"{_EMBEDDERS}.elmo": put(f"{_EMBEDDERS}.elmo", _ELMO),
    f"{_EMBEDDERS}.tokens": put(f"{_EMBEDDERS}.tokens", "pretrained_transformer"),
    f"{_EMBEDDERS}.tokens.weight": put(f"{_EMBEDDERS}.tokens.weight", [[1.0]]),
    f"{_EMBEDDERS}.tokens.vocab": put(
        f"{_EMBEDDERS}.tokens.vocab", {"type": "from_files", "directory": "/any"}
    ),
    "dataset_reader.tokenizer": put("dataset_reader.tokenizer", _TRANSFORMER),
    "dataset_reader.tokenizer.language": put(
        "dataset_reader.tokenizer", {"type": "spacy", "language": "/any/pipeline"}
    ),
    "dataset_reader.token_indexers.x": put(
        "dataset_reader.token_indexers.x",
        {**_TRANSFORMER, "tokenizer_kwargs": {"proxies": {"https": "http://127.0.0.1:9"}}},
    ),
    "dataset_reader.token_indexers.tokens.token_min_padding_length": put(
        "dataset_reader.token_indexers.tokens.token_min_padding_length", 10**9
    ),
    "dataset_reader.token_indexers.tokens.start_tokens": put(
        "dataset_reader.token_indexers.tokens.start_tokens", 1001 * ["a"]
    ),
    "dataset_reader.serialization_dir": put("dataset_reader.serialization_dir", "/any"),
    "model.vocab": put("model.vocab", {"type": "from_files", "directory": "/any"}),
    "model.text_embedder.bilm": put("model.text_embedder.bilm", "/any/weights.hdf5"),
    "model.trust_remote_code": put("model.trust_remote_code", True),
    "model": put("model", {"type": "from_archive", "archive_file": "/any/model.tar.gz"}),
    "model.encoder._pretrained": put("model.encoder", {"_pretrained": _ARCHIVE}),
    "model.dropout._pretrained": put("model.dropout", {"_pretrained": _ARCHIVE}),
    "model.text_embedder.bilm.x._pretrained": put(
        "model.text_embedder.bilm.x", {"_pretrained": _ARCHIVE}
    ),
    # AllenNLP takes the keys of an object for a list of types.
    "model.regularizer.regexes.0.1": put("model.regularizer.regexes", [["a", "pretrained"]]),
    "model.feedforward.activations.0": put("model.feedforward.activations", ["subprocess.Popen"]),
    "model.feedforward.num_layers": put("model.feedforward.num_layers", 10**7),
    "model.encoder.layers.0.0.2": put(
        "model.encoder",
        {"type": "gated-cnn-encoder", "input_dim": 8, "layers": [[[2, 8, 10**9]]]},
    ),
    # Its layers are copies, which are not counted as parameters.
    "model.encoder": put("model.encoder", {"type": "pytorch_transformer", "num_layers": 100}),
    "vocabulary": put("vocabulary", {"type": "from_pretrained_transformer"}),
    "data_loader.data_path": put("data_loader", {"batch_size": 1, "data_path": "/any"}),
    "data_loader.batches_per_epoch": put(
        "data_loader", {"batch_size": 1, "batches_per_epoch": 10**9}
    ),
    "data_loader.num_workers": put("data_loader", {"batch_size": 1, "num_workers": 9}),
    "data_loader.rows": put("data_loader", {"type": "elmo_windows", "rows": 10**9}),
    "data_loader.length": put("data_loader", {"type": "elmo_windows", "length": 10**9}),
    "data_loader.batch_sampler.sampler.times": put(
        "data_loader",
        {
            "batch_sampler": {
                "type": "elmo_repeated",
                "times": 1000,
                "sampler": {
                    "type": "elmo_repeated",
                    "times": 1000,
                    "sampler": {"type": "bucket", "batch_size": 1},
                },
            }
        },
    ),
    "data_loader.collate_fn": put(
        "data_loader", {"collate_fn": {"type": "language_model", "model_name": "owner/repo"}}
    ),
    "evaluation.postprocessor_fn_name": put("evaluation", {"postprocessor_fn_name": "load"}),
    "include_package": put("include_package", ["antigravity"]),
}
