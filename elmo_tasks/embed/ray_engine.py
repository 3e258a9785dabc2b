import logging
import os
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any, NamedTuple

import numpy
import ray
import torch
from ray.util import ActorPool

from elmo_tasks.bilm import FrozenBiLm
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.threads import num_cores, one_thread
from elmo_tasks.elmo.sentence_layers import SentenceLayers
from elmo_tasks.embed.parts import EmbedPart, Part

# How often a part is computed again if its process or machine ends.
_RETRIES = 4

# The bytes of a local object store in addition to those of the biLM's weights.
_STORE_BYTES = 200_000_000


def on_ray(
    address: str, num_processes: int | None, work: EmbedPart, parts: Iterable[Part]
) -> Iterator[int]:
    """
    Yields the result of `work` for each part. Processes of Ray compute the results. If a process or
    a machine ends, Ray starts another process, which computes the part again. An error in a process
    is raised here. Each machine has one copy of the weights.

    # Parameters

    address: As for `joined`. All machines need the same version of this package and the same output
        folder.
    num_processes: The number of processes, by default the number of GPUs or, without GPUs, the
        number of CPUs.

    # Raises

    `ConfigurationError`: As for `joined`, or there are fewer GPUs or CPUs than processes.
    """
    parts = iter(parts)
    first = next(parts, None)
    if first is None:
        # Nothing is missing. Starting Ray would take seconds.
        return
    layers = SharedLayers.of(work.sentence_layers)
    with join_cluster(address, num_processes, layers.num_bytes) as cluster:
        number = cluster.num_processes(num_processes)
        remote = ray.put((layers, work.write_file, work.parts, work.embedding, work.mix))
        actor = ray.remote(max_restarts=-1, max_task_retries=_RETRIES, **cluster.share)(_Worker)
        pool = ActorPool([actor.remote() for _ in range(number)])
        try:
            for part in chain([first], parts):
                if not pool.has_free():
                    yield pool.get_next_unordered()
                pool.submit(lambda actor, part: actor.embed.remote([remote], part), part)
            while pool.has_next():
                yield pool.get_next_unordered()
        except ray.exceptions.RayTaskError as error:
            # The command line explains the process's own error, but not Ray's error around it.
            raise error.cause from error
        except ray.exceptions.RayError as error:
            raise ConfigurationError(
                f"{_RETRIES + 1} processes of Ray died on the same part ({type(error).__name__}), "
                "perhaps for lack of memory; use fewer processes"
            ) from error


class _Worker:
    """Embeds one part after the other in a process of its own."""

    def __init__(self) -> None:
        # Ray warns of references in a constructor's arguments, so they come with each part, in a
        # list that Ray does not look into.
        self._work: EmbedPart | None = None

    def embed(self, remote: list[Any], part: Part) -> int:
        if self._work is None:
            layers, *arguments = ray.get(remote[0])
            self._work = EmbedPart(layers.open(), *arguments)
        return self._work(part)


class Cluster(NamedTuple):
    """
    The resources of a cluster: the CPUs and GPUs that Ray may use on all machines together, and the
    bytes of the smallest object store among the machines.
    """

    num_cpus: int
    num_gpus: int
    store_bytes: int

    @classmethod
    def of_ray(cls) -> "Cluster":
        """Returns the resources of the cluster that this process has joined."""
        nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
        return cls(
            int(sum(node.get("CPU", 0) for node in nodes)),
            int(sum(node.get("GPU", 0) for node in nodes)),
            int(min(node.get("object_store_memory", 0) for node in nodes)),
        )

    @property
    def share(self) -> dict[str, int]:
        """
        The resources that Ray reserves for a process that embeds: a GPU or, without GPUs, a CPU.
        """
        return {"num_gpus": 1} if self.num_gpus else {"num_cpus": 1}

    def num_processes(self, number: int | None) -> int:
        """
        Returns how many processes embed: `number`, by default one for each GPU or, without GPUs,
        one for each CPU. Raises `ConfigurationError` if Ray has too few GPUs or CPUs, because Ray
        would wait for ever.
        """
        most = self.num_gpus or self.num_cpus
        number = most if number is None else number
        if not 1 <= number <= most:
            raise ConfigurationError(
                f"Ray has {self.num_gpus} GPUs and {self.num_cpus} CPUs: the number of processes "
                f"must be from 1 to {most}, not {number}"
            )
        return number

    def require_store(self, num_bytes: int) -> None:
        """
        Raises `ConfigurationError` if an object store is smaller than `num_bytes`, because Ray
        would wait for ever.
        """
        if self.store_bytes < num_bytes:
            raise ConfigurationError(
                f"Ray's object store has {self.store_bytes:,} bytes on a machine, but "
                f"{num_bytes:,} are needed; start Ray with --object-store-memory {num_bytes} or "
                "more"
            )


@contextmanager
def join_cluster(address: str, num_cpus: int | None, weight_bytes: int) -> Iterator[Cluster]:
    """
    Joins a cluster while the `with` block runs, and yields the cluster's resources. If this process
    has joined a cluster before, that cluster is used, and is not left at the end of the block.
    Raises `ConfigurationError` if there is no cluster at the address, or if an object store has no
    room for the weights.

    # Parameters

    address: The address of a cluster, such as `auto` or `HOST:6379`. `local` starts Ray on this
        machine alone, and ends it after the block.
    num_cpus: The number of CPUs for a Ray that is started here; by default, all CPUs that this
        process may use.
    """
    joins = not ray.is_initialized()
    if joins and address != "local":
        try:
            ray.init(address=address, logging_level=logging.ERROR)
        except (OSError, RuntimeError, ValueError) as error:
            raise ConfigurationError(
                f"no Ray cluster can be joined at {address} ({error}); if the cluster needs a "
                "token, put it into ~/.ray/auth_token, and set RAY_AUTH_MODE=token before Ray is "
                "imported"
            ) from error
    elif joins:
        # Ray's processes would otherwise run with nice 15.
        os.environ.setdefault("RAY_worker_niceness", "0")
        with warnings.catch_warnings():
            # Ray warns of a future change for processes without a GPU, which does not matter here.
            warnings.simplefilter("ignore", FutureWarning)
            ray.init(
                # Ray would otherwise join the cluster that RAY_ADDRESS names.
                address="local",
                num_cpus=num_cpus or num_cores(),
                object_store_memory=weight_bytes + _STORE_BYTES,
                include_dashboard=False,
                logging_level=logging.ERROR,
                _node_ip_address="127.0.0.1",
            )
    try:
        cluster = Cluster.of_ray()
        cluster.require_store(weight_bytes + _STORE_BYTES // 4)
        yield cluster
    finally:
        if joins:
            ray.shutdown()


class SharedLayers(NamedTuple):
    """
    Holds `SentenceLayers`, with the weights as NumPy arrays. Ray keeps such arrays once for all
    processes of a machine, in its object store, but would copy tensors for each process.

    # Parameters

    settings: The arguments of `FrozenBiLm`.
    arrays: The state dict.
    batch_tokens: As for `SentenceLayers`.
    """

    settings: dict[str, Any]
    arrays: dict[str, numpy.ndarray]
    batch_tokens: int

    @classmethod
    def of(cls, layers: SentenceLayers) -> "SharedLayers":
        """
        Takes the weights of the biLM, which must be on the CPU. Leaves out the biLM's layer store.
        """
        bilm = layers.bilm
        settings = {
            "options": bilm.raw_options,
            "state": bilm.state_name,
            "dtype": bilm.asked_dtype,
        }
        arrays = {name: tensor.detach().numpy() for name, tensor in bilm.state_dict().items()}
        return cls(settings, arrays, layers.batch_tokens)

    @property
    def num_bytes(self) -> int:
        """The size of all arrays."""
        return sum(array.nbytes for array in self.arrays.values())

    def open(self) -> SentenceLayers:
        """
        Opens the layers in a process of Ray: on its GPU or, without a GPU, on the CPU with one
        thread. On a CPU, the biLM shares memory with `arrays`: do not write to its weights.
        """
        has_gpu = bool(ray.get_gpu_ids())
        if not has_gpu:
            # Ray assigns one CPU to each process.
            one_thread()
        bilm = FrozenBiLm(**self.settings)
        with warnings.catch_warnings():
            # PyTorch warns that the arrays of an object store cannot be written to.
            warnings.filterwarnings("ignore", "The given NumPy array is not writable")
            tensors = {name: torch.from_numpy(array) for name, array in self.arrays.items()}
        bilm.load_state_dict(tensors, assign=True)
        bilm.requires_grad_(False).to("cuda" if has_gpu else "cpu").eval()
        return SentenceLayers(bilm, self.batch_tokens)
