import os
from pathlib import Path

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.fetch import local_path
from elmo_tasks.common.nearest import did_you_mean

_RELEASED = "https://allennlp.s3.amazonaws.com/models/elmo/{0}/elmo_{0}_weights.hdf5"
_SHIPPED = Path(__file__).parents[2] / "pretrained"

# The weights of the biLMs that have a name: those that the authors of the paper released, and
# those in this package. Their options are in training_configs/lib/bilms.libsonnet.
KNOWN_BILMS = {
    "small": _RELEASED.format("2x1024_128_2048cnn_1xhighway"),
    "medium": _RELEASED.format("2x2048_256_2048cnn_1xhighway"),
    "original": _RELEASED.format("2x4096_512_2048cnn_2xhighway"),
    "original-5.5B": _RELEASED.format("2x4096_512_2048cnn_2xhighway_5.5B"),
    **{path.parent.name: str(path) for path in _SHIPPED.glob("*/weights.hdf5")},
}


def known_bilm_files(name: str) -> tuple[str, str]:
    """
    Returns the paths or addresses of a known biLM's options and weights. Raises
    `ConfigurationError` if no biLM has this name.
    """
    if name not in KNOWN_BILMS:
        raise ConfigurationError(
            f"no biLM is known as {name!r}; known are {', '.join(sorted(KNOWN_BILMS))}"
            f"{did_you_mean(name, KNOWN_BILMS)}"
        )
    weights = KNOWN_BILMS[name]
    # Both files are in the same folder, and their names begin alike.
    return weights.removesuffix("weights.hdf5") + "options.json", weights


def local_weights(name: str) -> str:
    """
    Returns the local path of a file of weights, given as the name of a known biLM, a path or an
    address. Raises `ConfigurationError` if there is no such file.
    """
    if name not in KNOWN_BILMS and not looks_like_a_path(name):
        raise ConfigurationError(
            f"no biLM is known as {name!r}, and there is no such file; known are "
            f"{', '.join(sorted(KNOWN_BILMS))}{did_you_mean(name, KNOWN_BILMS)}"
        )
    try:
        return local_path(KNOWN_BILMS.get(name, name))
    except FileNotFoundError as error:
        raise ConfigurationError(f"there is no file of weights {name}") from error
    except OSError as error:
        raise ConfigurationError(
            f"the weights {name} cannot be fetched ({error}); without a network, give a local path"
        ) from error


def looks_like_a_path(name: str) -> bool:
    """Returns whether this is a path or an address, and not the name of a biLM."""
    return os.path.exists(name) or any(mark in name for mark in "./")
