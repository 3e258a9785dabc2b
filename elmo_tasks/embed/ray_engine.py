from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

import ray

from elmo_tasks.common.errors import ConfigurationError, check_at_least
from elmo_tasks.embed.parts import EmbedPart, Part
from elmo_tasks.embed.ray_cluster import SharedLayers, joined

# How often a part is computed again if its process or machine ends.
_RETRIES = 4


def on_ray(
    address: str | None, num_processes: int | None, work: EmbedPart, parts: Iterable[Part]
) -> Iterator[int]:
    """
    Yields what `work` returns for each part, computed in processes of Ray. If a process or a
    machine ends, Ray starts another process, which computes the part again. Errors in a process are
    raised here. Each machine has one copy of the weights.

    # Parameters

    address: As for `joined`. All machines need the same version of this package and the same output
        folder.
    num_processes: The number of processes, by default that of GPUs or, without GPUs, of CPUs.

    # Raises

    `ConfigurationError`: As for `joined`, or there are not as many GPUs or CPUs.
    """
    check_at_least("the number of processes", num_processes)
    if work.sentence_layers.bilm.store is not None:
        raise ConfigurationError("the processes of Ray use no store: leave --use-store out")
    parts = iter(parts)
    first = next(parts, None)
    if first is None:
        # Nothing is missing. Starting Ray would take seconds.
        return
    shared = SharedLayers.of(work.sentence_layers)
    with joined(address, num_processes, shared.num_bytes) as cluster:
        uses_gpus = cluster.num_gpus > 0
        most = cluster.num_gpus if uses_gpus else cluster.num_cpus
        number = most if num_processes is None else num_processes
        if not 1 <= number <= most:
            raise ConfigurationError(
                f"Ray has {most} {'GPUs' if uses_gpus else 'CPUs'}: the number of processes must "
                f"be from 1 to {most}, not {number}"
            )
        remote = ray.put((shared, work.write_file, work.parts, work.embedding, work.mix))
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
        # Ray warns of references in a constructor's arguments, so they come with each part, in a
        # list that Ray does not look into.
        self._work: EmbedPart | None = None

    def embed(self, remote: list[Any], part: Part) -> int:
        if self._work is None:
            shared, *others = ray.get(remote[0])
            self._work = EmbedPart(shared.open(), *others)
        return self._work(part)
