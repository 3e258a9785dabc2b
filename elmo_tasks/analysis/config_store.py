import copy
from collections.abc import Iterator
from typing import Any

from allennlp.common import Params
from allennlp.data import DatasetReader, Instance
from tqdm import tqdm

from elmo_tasks.bilm import BiLm
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.threads import one_thread
from elmo_tasks.elmo.from_config import bilm_from_config, parents_of_bilms, with_options
from elmo_tasks.elmo.store.fill import fill_store
from elmo_tasks.readers.distinct_texts import DistinctTexts


def find_store_path(config: dict[str, Any]) -> str:
    """
    Returns the path of the store of a config's biLM. Raises `ConfigurationError` if it has none.
    """
    path = _find_bilm(config).get("store", {}).get("path")
    if path is None:
        raise ConfigurationError("the biLM of the config has no store with a path")
    return path


def fill_from_config(
    config: dict[str, Any],
    path: str,
    batch_tokens: int = 2048,
    cuda_device: int = -1,
    num_processes: int = 1,
) -> int:
    """
    Fills the store at `path` with the layers of a config's training and validation texts. The biLM
    of the config's model computes the missing layers. Returns the number of texts that were
    computed. The parameters that `fill_store` has too are described there.
    """
    if num_processes > 1:
        one_thread()
    bilm = _load_bilm(config, path).to(cuda_device if cuda_device >= 0 else "cpu")
    texts = DistinctTexts(_instances(config))
    if len(texts) == 0:
        raise ConfigurationError("the config's data has no text with an elmo_characters indexer")
    return fill_store(bilm, texts, batch_tokens, num_processes)


def _load_bilm(config: dict[str, Any], path: str) -> BiLm:
    params = copy.deepcopy(_find_bilm(config))
    # Each distinct text is computed once, so layers kept in memory would never be used again.
    store = {**params.get("store", {}), "path": path, "memory": 0}
    return bilm_from_config({**params, "store": store}).eval()


def _find_bilm(config: dict[str, Any]) -> dict[str, Any]:
    """Returns the parameters of the one biLM in a config's model."""
    found = [parent["bilm"] for parent in parents_of_bilms(with_options(config.get("model")))]
    if not found:
        raise ConfigurationError("the model of the config has no biLM")
    if any(params != found[0] for params in found):
        raise ConfigurationError("the model of the config has several biLMs that differ")
    return found[0]


def _instances(config: dict[str, Any]) -> Iterator[Instance]:
    """Yields the instances of the training data, then those of the validation data."""
    reader = config.get("dataset_reader")
    readers = {"train": reader, "validation": config.get("validation_dataset_reader") or reader}
    for name, params in readers.items():
        data_path = config.get(f"{name}_data_path")
        if data_path is not None:
            instances = DatasetReader.from_params(Params(copy.deepcopy(params))).read(data_path)
            yield from tqdm(instances, desc=f"reading {data_path}")
