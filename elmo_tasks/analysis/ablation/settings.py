import json
import math
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from allennlp.common import Params, params

from elmo_tasks.analysis.ablation.run import Run
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.text import listed, nearest_or_all
from elmo_tasks.elmo.from_config import with_options
from elmo_tasks.training.config_names import configs_by_name, read_config

SEEDS = ("random_seed", "numpy_seed", "pytorch_seed")


class AblationSettings(NamedTuple):
    """
    The settings of the training runs of an ablation.

    # Parameters

    configs: The folder of the task's variants: each is a `.jsonnet` file.
    changes: New values for fields of the task's libsonnet.
    overrides: AllenNLP's `--overrides`: JSON that is merged into the evaluated config.
    """

    configs: Path
    changes: dict[str, Any]
    overrides: str = ""

    def choose(self, names: Sequence[str]) -> list[str]:
        """
        Returns `names` without repetitions. Raises `ConfigurationError` if there are no names, or
        no variant of a name.
        """
        variants = sorted(path.stem for path in self.configs.glob("*.jsonnet"))
        if not variants:
            tasks = sorted({path.parent.name for path in self.configs.parent.glob("*/*.jsonnet")})
            nearest = nearest_or_all(self.configs.name, tasks)
            raise ConfigurationError(f"{self.configs} is not a folder with configs{nearest}")
        if not names:
            raise ConfigurationError(f"give one or more --variants; there are {listed(variants)}")
        for name in names:
            if name not in variants:
                raise ConfigurationError(
                    f"{self.configs} has no variant {name!r}{nearest_or_all(name, variants)}"
                )
        return list(dict.fromkeys(names))

    def evaluate(self, run: Run) -> dict[str, Any]:
        """
        Returns the config of a run, as AllenNLP reads it. Raises `ConfigurationError` if a changed
        field does not exist or jsonnet cannot evaluate the config.
        """
        file = self.configs / f"{run.variant}.jsonnet"
        target = json.dumps(os.path.realpath(file))
        fields = {**self.changes, **dict.fromkeys(SEEDS, run.seed)}
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"{run.variant}.jsonnet"
            path.write_text(f"(import {target}) + {json.dumps(fields)}", encoding="utf-8")
            try:
                with configs_by_name():
                    names = json.loads(
                        params.evaluate_snippet("fields", f"std.objectFieldsAll(import {target})")
                    )
                config = read_config(path, self.overrides)
            except ValueError as error:
                reason = str(error).removeprefix(f"{path}: ")
                raise ConfigurationError(f"{file} cannot be read: {reason}") from error
        if unknown := [field for field in self.changes if field not in names]:
            raise ConfigurationError(
                f"--set {unknown[0]}: {file} has no such field{nearest_or_all(unknown[0], names)}"
            )
        return config if run.fraction == 1 else _part(config, run)


def _part(config: dict[str, Any], run: Run) -> dict[str, Any]:
    """
    Returns a config with a fraction of its training data and as many updates as with all data.

    For a fraction of 1/n^2, there are n times as many epochs, and each epoch goes through the data
    n times. With more epochs alone, validation would take most of the time. With more passes alone,
    a model that overfits early would be validated too rarely. Patience grows with the number of
    epochs.
    """
    reader, loader = config["dataset_reader"], config.get("data_loader", {})
    if "batch_sampler" not in loader:
        raise ConfigurationError(
            f"{run.variant} has no data_loader with a batch_sampler, which --train-fraction needs"
        )
    sampler = loader["batch_sampler"]
    if "drop_last" in sampler:
        # A small fraction may be smaller than a batch, and this batch must not be dropped.
        sampler = {**sampler, "drop_last": False}
    times = round(run.fraction**-0.5)
    repeated_sampler = {"type": "elmo_repeated", "sampler": sampler, "times": times}
    trainer = dict(config.get("trainer", {}))
    for name in ("num_epochs", "patience"):
        if trainer.get(name) is not None:
            trainer[name] = math.ceil(trainer[name] / run.fraction / times)
    return {
        # By default, AllenNLP would validate with the reader and the loader of the training data.
        "validation_dataset_reader": reader,
        "validation_data_loader": loader,
        **config,
        "dataset_reader": {
            "type": "elmo_fraction",
            "fraction": run.fraction,
            "seed": run.seed,
            "reader": reader,
        },
        "data_loader": {**loader, "batch_sampler": repeated_sampler},
        "trainer": trainer,
    }


def parse_change(text: str) -> tuple[str, Any]:
    """
    Returns a field and its value from `FIELD=VALUE`. Raises `ValueError` if `VALUE` is not jsonnet,
    or the field is a seed.
    """
    field, _, value = text.partition("=")
    if field in SEEDS:
        raise ValueError(f"{field} cannot be set: it follows from --seeds")
    try:
        # Files that the value imports are searched for in the working directory.
        with configs_by_name():
            name = os.path.join(os.getcwd(), field)
            return field, json.loads(params.evaluate_snippet(name, value))
    except ConfigurationError as error:
        raise ValueError(
            f"the value of {text!r} is not jsonnet ({error}); a string needs quotes: "
            f"--set '{field}=\"text\"'"
        ) from error


def runs_of_other_settings(configs: Mapping[Run, dict[str, Any]]) -> dict[Run, str]:
    """
    Returns the runs that were trained with another config, and a message for each of these runs.
    """
    problems = {}
    for run, config in configs.items():
        old_config = run.trained_config()
        if old_config is None or old_config == config:
            continue
        # If a config names a biLM, `elmo-tasks train` saves the config with the biLM's options.
        config, old_config = (
            {**values, "model": with_options(values.get("model"))}
            for values in (config, old_config)
        )
        if old_config == config:
            continue
        fields, old_fields = Params(config).as_flat_dict(), Params(old_config).as_flat_dict()
        field = next(
            key
            for key in sorted(fields.keys() | old_fields.keys())
            if fields.get(key) != old_fields.get(key)
        )
        problems[run] = (
            f"{run.folder} was trained with other settings: {field} was "
            f"{json.dumps(old_fields.get(field))}, not {json.dumps(fields.get(field))}. Choose "
            "another folder with -s, or train this run anew with --force."
        )
    return problems
