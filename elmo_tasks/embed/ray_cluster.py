import logging
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import ray

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.processes import num_cores

# The bytes of a local object store in addition to those of the biLM's weights.
_STORE_BYTES = 200_000_000


class Cluster(NamedTuple):
    """
    The resources that Ray may use.

    # Parameters

    num_cpus, num_gpus: CPUs and GPUs of all machines.
    store_bytes: The smallest size, in bytes, of a machine's object store.
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

    def require_store(self, num_bytes: int) -> None:
        """
        Raises `ConfigurationError` if an object store is smaller than `num_bytes`. Otherwise Ray
        would wait for ever.
        """
        if self.store_bytes < num_bytes:
            raise ConfigurationError(
                f"Ray's object store has {self.store_bytes:,} bytes on a machine, but "
                f"{num_bytes:,} are needed; start Ray with --object-store-memory {num_bytes} or "
                "more"
            )


@contextmanager
def joined(address: str | None, num_cpus: int | None, weight_bytes: int) -> Iterator[Cluster]:
    """
    Joins a cluster while the `with` block runs, and yields the cluster's resources. A cluster that
    this process has joined before is used, and not left at the end.

    # Parameters

    address: The address of a cluster, such as `auto` or `HOST:6379`. `None` starts Ray on this
        machine alone, and ends it after the block.
    num_cpus: The CPUs of Ray if it is started here, by default all that this process may use.
    weight_bytes: The bytes of the weights, which the object store must have room for.

    # Raises

    `ConfigurationError`: There is no cluster at the address, or an object store is too small.
    """
    joins = not ray.is_initialized()
    if joins and address is not None:
        _join(address)
    elif joins:
        _start(num_cpus or num_cores(), weight_bytes + _STORE_BYTES)
    try:
        cluster = Cluster.of_ray()
        cluster.require_store(weight_bytes + _STORE_BYTES // 4)
        yield cluster
    finally:
        if joins:
            ray.shutdown()


def _join(address: str) -> None:
    try:
        ray.init(address=address, logging_level=logging.ERROR)
    except (OSError, RuntimeError, ValueError) as error:
        raise ConfigurationError(
            f"no Ray cluster can be joined at {address} ({error}); if the cluster needs a token, "
            "put it into ~/.ray/auth_token, and set RAY_AUTH_MODE=token before Ray is imported"
        ) from error


def _start(num_cpus: int, store_bytes: int) -> None:
    # Ray's processes would otherwise run with nice 15.
    os.environ.setdefault("RAY_worker_niceness", "0")
    with warnings.catch_warnings():
        # Ray warns of a change for processes without a GPU. The change does not matter here.
        warnings.simplefilter("ignore", FutureWarning)
        ray.init(
            # Ray would otherwise join the cluster that RAY_ADDRESS names.
            address="local",
            num_cpus=num_cpus,
            object_store_memory=store_bytes,
            include_dashboard=False,
            logging_level=logging.ERROR,
            _node_ip_address="127.0.0.1",
        )
