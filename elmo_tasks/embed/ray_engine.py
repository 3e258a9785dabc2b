from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

import ray

from elmo_tasks.common.errors import ConfigurationError, check_at_least
from elmo_tasks.embed.parts import EmbedPart, Part
from elmo_tasks.embed.ray_cluster import joined
from elmo_tasks.embed.shared_bilm import SharedBiLm, SharedLayers

# How often a part is computed again if its process or machine ends.
_RETRIES = 4


def on_ray(
    address: str | None, num_processes: int | None, work: EmbedPart, parts: Iterable[Part]
) -> Iterator[int]:
    """
    Yields what `work` returns for each part, computed in processes of Ray, on one machine or a
    cluster. There is a process for each GPU or, without GPUs, for each CPU. Each machine has one
    copy of the weights. If a process or a machine ends, Ray starts another process, which computes
    the part again.

    # Parameters

    address: The address of a cluster, such as `auto` or `HOST:6379`. All machines need the same
        version of this package and the same output folder. `None` starts Ray on this machine.
    num_processes: The number of processes. `None` is the number of GPUs or CPUs.

    # Raises

    `ConfigurationError`: The cluster cannot be joined, an object store is too small, or the number
        of processes is less than 1 or larger than the number of GPUs or CPUs. Errors in a process
        are raised here, too.
    """
    check_at_least("the number of processes", num_processes)
    if work.sentence_layers.bilm.store is not None:
        raise ConfigurationError("the processes of Ray use no store: leave --use-store out")
    parts = iter(parts)
    first = next(parts, None)
    if first is None:
        # Nothing is missing. Starting Ray would take seconds.
        return
    shared = SharedBiLm.of(work.sentence_layers.bilm)
    with joined(address, num_processes, shared.num_bytes) as cluster:
        uses_gpus = cluster.num_gpus > 0
        most = cluster.num_gpus if uses_gpus else cluster.num_cpus
        number = most if num_processes is None else num_processes
        if not 1 <= number <= most:
            raise ConfigurationError(
                f"Ray has {most} {'GPUs' if uses_gpus else 'CPUs'}: the number of processes must "
                f"be from 1 to {most}, not {number}"
            )
        layers = SharedLayers(ray.put(shared), work.sentence_layers.batch_tokens)
        remote = ray.put((layers, work.write_file, work.parts, work.embedding, work.mix))
        options = {"num_gpus": 1} if uses_gpus else {"num_cpus": 1}
        actor = ray.remote(max_restarts=-1, max_task_retries=_RETRIES, **options)(_Worker)
        actors = [actor.remote() for _ in range(number)]
        yield from _done(actors, remote, chain([first], parts))


def _done(actors: list[Any], remote: Any, parts: Iterable[Part]) -> Iterator[int]:
    """Gives each actor one part at a time, and yields what it returns."""
    idle, busy, parts = list(actors), dict[Any, tuple[Any, Part]](), iter(parts)
    while True:
        while idle and (part := next(parts, None)) is not None:
            actor = idle.pop()
            busy[actor.embed.remote([remote], part)] = actor, part
        if not busy:
            return
        for result in ray.wait(list(busy), num_returns=1)[0]:
            actor, part = busy.pop(result)
            yield _result(result, part)
            idle.append(actor)


def _result(result: Any, part: Part) -> int:
    try:
        return ray.get(result)
    except ray.exceptions.RayTaskError as error:
        # The console can explain the error that the process itself raised.
        raise error.cause from error
    except ray.exceptions.RayError as error:
        raise ConfigurationError(
            f"{_RETRIES + 1} processes of Ray died on sentences {part.ids[0]} to {part.ids[-1]} "
            f"({type(error).__name__}), perhaps for lack of memory; use fewer processes "
            "or smaller batches"
        ) from error


class _Worker:
    """Embeds one part after the other in a process of its own."""

    def __init__(self) -> None:
        # Ray warns of object references in a constructor's arguments. So the references come with
        # each part, in a list that Ray does not look into.
        self._work: EmbedPart | None = None

    def embed(self, remote: list[Any], part: Part) -> int:
        if self._work is None:
            layers, *others = ray.get(remote[0])
            self._work = EmbedPart(layers.open(), *others)
        return self._work(part)
