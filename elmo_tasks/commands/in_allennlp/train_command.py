import argparse
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from allennlp.commands import train as allennlp_train
from allennlp.common import Params
from allennlp.common.params import parse_overrides
from allennlp.models import Model

from elmo_tasks.commands.in_allennlp.check_arguments import check_arguments
from elmo_tasks.commands.in_allennlp.named_errors import named_errors
from elmo_tasks.commands.in_allennlp.quiet import kept_quiet
from elmo_tasks.commands.in_allennlp.training_folder import (
    check_data,
    check_folder,
    remove_training,
)
from elmo_tasks.commands.in_allennlp.vector_door import vectors_read_by_us
from elmo_tasks.commands.in_allennlp.write_archive import write_archive
from elmo_tasks.commands.own_data.split import (
    folds_line,
    is_own,
    metric_of,
    result_lines,
    train_folds,
)
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.files import lock
from elmo_tasks.common.outputs import paths_in
from elmo_tasks.common.replaced import replaced
from elmo_tasks.elmo.from_config import with_options
from elmo_tasks.training.config_names import (
    check_fields,
    configs_by_name,
    read_config,
    read_config_and_files,
)
from elmo_tasks.training.regularizer import warn_of_unused_regexes
from elmo_tasks.training.several_processes import prepare_processes
from elmo_tasks.training.trainer import ElmoTrainer, logger


def train_model(
    params: Params,
    serialization_dir: str | os.PathLike,
    recover: bool = False,
    force: bool = False,
    node_rank: int = 0,
    inputs: Iterable[str] = (),
    archive: bool = True,
    **options: Any,
) -> Model | None:
    """
    Trains as AllenNLP's `train_model` does, with six more guarantees:

    - A mistake that the config alone shows is found before data are read.
    - A training run that fails before its first checkpoint leaves no file of its own in the folder.
    - Only one process at a time uses the folder. A second process fails, even with `force`.
    - `force` removes only files with the names of a training run's files, and no file that this run
      reads: no file that the config names, and none of `inputs`, such as the files that the config
      imports.
    - The archive appears whole or not at all. Only the first of several nodes writes it. Without
      `archive`, it is not written.
    - The config in the folder has the options of each biLM in full, so the archive needs no other
      file.
    """
    source_paths = [*inputs, *paths_in(params.params)]
    # AllenNLP takes this field out of the config before it makes objects from the other fields.
    distributed = params.params.get("distributed")
    if not isinstance(distributed, dict | type(None)):
        raise ConfigurationError(
            "distributed must be an object, such as { cuda_devices: [0, 1] }, not "
            f"{json.dumps(distributed)}"
        )

    def archive_model(folder: str | os.PathLike, **options: Any) -> None:
        if not archive:
            return
        if node_rank > 0:
            logger.info("node 0 has the weights and the archive; this node has the log alone")
            return
        path = write_archive(folder, **options)
        logger.info("the model is in %s, and the log in %s", path, folder)

    run = allennlp_train.TrainModel.run

    def run_with_warning(training: allennlp_train.TrainModel) -> dict[str, Any]:
        # An `ElmoTrainer` says it itself.
        if not isinstance(training.trainer, ElmoTrainer):
            warn_of_unused_regexes(training.model)
        return run(training)

    with (
        lock(serialization_dir),
        replaced(allennlp_train, archive_model=archive_model),
        replaced(allennlp_train.TrainModel, run=run_with_warning),
        vectors_read_by_us(),
    ):
        nodes = (params.params.get("distributed") or {}).get("num_nodes", 1)
        # Nodes may share the folder, and another node may have begun to fill it.
        is_new = not recover and (force or nodes == 1)
        if is_new:
            check_folder(serialization_dir, source_paths, force)
        check_arguments(params.as_dict(quiet=True))
        if is_new:
            check_data(params.params)
        if "model" in params:
            params["model"] = with_options(params.params["model"])
        prepare_processes(params, serialization_dir, recover)
        if is_new:
            # This is last, so that a config that cannot be used costs nothing.
            remove_training(serialization_dir)
            force = False
        with named_errors(), _removed_after_an_error(Path(serialization_dir), is_new, nodes):
            return allennlp_train.train_model(
                params, serialization_dir, recover, force, node_rank, **options
            )


@contextmanager
def _removed_after_an_error(folder: Path, is_new: bool, nodes: int) -> Iterator[None]:
    """
    If a new training run fails without a checkpoint, removes its files, so that the user can
    correct the config and type the same command again. After Ctrl-C, nothing is removed, because
    `--recover` needs the files.
    """
    existed = folder.exists()
    try:
        yield
    except Exception as error:
        if is_new and nodes == 1 and not any(folder.glob("*state_*.th")):
            # If somebody has put another file there, all files stay.
            with suppress(ConfigurationError):
                check_folder(folder, (), force=True)
                remove_training(folder)
                if not existed and folder.exists():
                    folder.rmdir()
        if "does not support sparse gradients" in str(error):
            raise ConfigurationError(
                f"trainer.optimizer: {error}; a language model has sparse gradients: adagrad takes "
                "them"
            ) from error
        raise


@kept_quiet()
@configs_by_name()
def train(args: argparse.Namespace) -> None:
    """
    Runs `elmo-tasks train`. A training run on the user's own data ends by printing the score and a
    command that predicts.
    """

    def train_in(folder: str | os.PathLike, overrides: Any, **options: Any) -> None:
        train_model(
            Params(read_config(args.param_path, overrides)),
            folder,
            include_package=["elmo_tasks.plugin", *args.include_package],
            file_friendly_logging=args.file_friendly_logging,
            return_model=False,
            inputs=files,
            **options,
        )

    config, files = read_config_and_files(args.param_path, args.overrides)
    check_fields(config, args.param_path)
    if args.folds is not None:
        if args.folds < 2:
            raise ConfigurationError(f"--folds must be 2 or more, not {args.folds}")
        if not is_own(config):
            raise ConfigurationError(
                "--folds is for the configs of classify and tag, with a validation_metric"
            )
        if config.get("distributed") is not None:
            raise ConfigurationError("--folds needs a single process: leave out distributed")
    train_in(
        args.serialization_dir,
        args.overrides,
        recover=args.recover,
        force=args.force,
        node_rank=args.node_rank,
    )
    if args.node_rank:
        return
    folder = Path(args.serialization_dir)
    for line in result_lines(config, folder):
        print(line)
    if args.folds is not None:

        def train_fold(overrides: dict[str, Any], training: Path) -> None:
            # Only the score of a fold is kept.
            changes = {**parse_overrides(args.overrides), **overrides}
            train_in(training, changes, archive=False)

        scores = train_folds(config, folder / "folds", args.folds, train_fold)
        print(folds_line(metric_of(config), scores))
