from pathlib import Path

import pytest
import torch
from allennlp.modules.elmo import batch_to_ids

from elmo_tasks.analysis.config_store import fill_from_config
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.elmo.store.layer_store import LayerStore
from tests.helpers.store_configs import config, texts_of_the_config
from tests.helpers.stored_bilms import computed_by, fixture_bilm


@pytest.fixture()
def path(tmp_path: Path) -> str:
    return str(tmp_path / "store")


def test_every_text_of_a_config_is_computed_beforehand(path: str) -> None:
    texts, given = texts_of_the_config(), config()

    num_computed = fill_from_config(given, path)

    assert num_computed == len(texts) and given == config()
    bilm = fixture_bilm(LayerStore(path))
    computed = computed_by(bilm)
    ids = batch_to_ids([list(words) for words in sorted(texts)])
    layers = bilm(ids).layers
    assert computed == []
    torch.testing.assert_close(layers, fixture_bilm()(ids).layers, rtol=2**-10, atol=1e-5)


def test_bilm_that_trains_is_refused(path: str) -> None:
    trains = "{ chosen_bilm+:: { requires_grad: true, state: 'reset' } }"

    with pytest.raises(ConfigurationError, match="leave out requires_grad"):
        fill_from_config(config(trains), path)


def test_config_whose_texts_no_bilm_reads_is_refused(path: str) -> None:
    words_only = "{ token_indexers:: { tokens: { type: 'single_id' } } }"

    with pytest.raises(ConfigurationError, match="no text with an elmo_characters indexer"):
        fill_from_config(config(words_only), path)
