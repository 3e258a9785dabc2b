"""Changes of an archive's config that ask for files, addresses, code or memory of the reader."""

import copy
from collections.abc import Callable
from typing import Any

Change = Callable[[dict[str, Any]], Any]

_EMBEDDERS = "model.text_embedder.words.token_embedders"
_READER = "dataset_reader"
_TRANSFORMER = {"type": "pretrained_transformer", "model_name": "owner/repo"}
_ARCHIVE = {"_pretrained": {"archive_file": "/any/model.tar.gz", "module_path": "encoder"}}
_VOCABULARY = {"type": "from_files", "directory": "/any"}
_FROM_ARCHIVE = {"type": "from_archive", "archive_file": "/any/model.tar.gz"}
_COLLATOR = {"type": "language_model", "model_name": "owner/repo"}
_ELMO = {"type": "elmo_token_embedder", "weight_file": "http://127.0.0.1:9/weights.hdf5"}
_GATED = {"type": "gated-cnn-encoder", "input_dim": 8, "layers": [[[2, 8, 10**9]]]}

# The path that is changed, the new value, and the path that the message names.
REFUSED: list[tuple[str, Any, str]] = [
    *(
        (path, value, path)
        for path, value in [
            (f"{_EMBEDDERS}.x", {**_TRANSFORMER, "transformer_kwargs": {"weights_only": False}}),
            (f"{_EMBEDDERS}.x", {**_TRANSFORMER, "transformer_kwargs": {"cache_dir": "/any"}}),
            (f"{_EMBEDDERS}.x", {**_TRANSFORMER, "type": "pretrained_transformer_mismatched"}),
            (f"{_EMBEDDERS}.elmo", _ELMO),
            (f"{_EMBEDDERS}.tokens", "pretrained_transformer"),
            (f"{_EMBEDDERS}.tokens.vocab", _VOCABULARY),
            (f"{_READER}.tokenizer", _TRANSFORMER),
            (f"{_READER}.token_indexers.x", {**_TRANSFORMER, "tokenizer_kwargs": {"proxies": {}}}),
            (f"{_READER}.token_indexers.tokens.token_min_padding_length", 10**9),
            (f"{_READER}.serialization_dir", "/any"),
            ("model.vocab", _VOCABULARY),
            ("model.text_embedder.bilm", "/any/weights.hdf5"),
            ("model.text_embedder.bilm", "https://127.0.0.1:9/weights.hdf5"),
            ("model", _FROM_ARCHIVE),
            ("model.feedforward.num_layers", 10**9),
            # Its layers are copies, which are not counted as parameters.
            ("model.encoder", {"type": "pytorch_transformer", "num_layers": 100}),
            ("model.encoder", {"type": "os.system"}),
            ("data_loader.data_path", "/any"),
            ("data_loader.batches_per_epoch", 10**9),
            ("data_loader.num_workers", 1000),
            ("data_loader.collate_fn", _COLLATOR),
            ("validation_data_loader", {"type": "subprocess.check_call", "args": ["true"]}),
            ("evaluation", {"type": "subprocess.check_call", "args": ["true"]}),
            ("evaluation.postprocessor_fn_name", "load"),
            ("vocabulary", {"type": "subprocess.check_call", "args": ["true"]}),
            ("validation_dataset_reader", {"type": "subprocess.check_call", "args": ["true"]}),
        ]
    ),
    ("model.encoder", _ARCHIVE, "model.encoder._pretrained"),
    ("model.dropout", _ARCHIVE, "model.dropout._pretrained"),
    ("model.text_embedder.bilm.x", _ARCHIVE, "model.text_embedder.bilm.x._pretrained"),
    ("dataset_reader.token_indexers", _ARCHIVE, "dataset_reader.token_indexers._pretrained"),
    # AllenNLP takes the keys of an object for a list of types.
    ("model.regularizer.regexes", [["a", "pretrained"]], "model.regularizer.regexes.0.1"),
    ("model.feedforward.activations", ["subprocess.Popen"], "model.feedforward.activations.0"),
    # It does so too if it expects either, and the object is not right.
    (
        "model.feedforward.activations",
        {"subprocess.Popen": 1, "type": "relu"},
        "model.feedforward.activations.0",
    ),
    (
        "model.encoder",
        {"type": "compose", "encoders": {"pretrained_transformer": 1}},
        "model.encoder.encoders.0",
    ),
    (
        "model.encoder",
        {"type": "compose", "encoders": [{"type": "x.y"}]},
        "model.encoder.encoders.0",
    ),
    (
        "dataset_reader",
        {"type": "elmo_fraction", "reader": {"type": "sharded"}},
        "dataset_reader.reader",
    ),
    ("model.encoder", _GATED, "model.encoder.layers.0.0.2"),
]

# What is not refused, because nothing of it is read.
HARMLESS: list[tuple[str, Any]] = [
    ("trainer", {"type": "no.such.Trainer", "callbacks": [{"serialization_dir": "x"}]}),
    ("train_data_path", "/any"),
    ("include_package", ["antigravity"]),
    ("vocabulary", {"type": "from_files", "directory": "/any"}),
    ("vocabulary", {"type": "from_pretrained_transformer", "model_name": "owner/repo"}),
    ("model.initializer", {"regexes": [["x", {"type": "pretrained", "weights_file": "/any"}]]}),
    ("model.text_embedder.bilm.pretrained_file", "/any"),
    ("model.text_embedder.bilm.store", {"path": "/any"}),
]


def set_value(path: str, value: Any) -> Change:
    """Returns a change of a config that sets the value at a dotted path."""

    def change(config: dict[str, Any]) -> None:
        *parents, key = path.split(".")
        for parent in parents:
            config = config.setdefault(parent, {})
        config[key] = copy.deepcopy(value)

    return change
