"""The biLMs that a config can name; tests/language_model trains those of training_configs/bilm."""

from elmo_tasks.bilm.files.known_bilms import KNOWN_BILMS
from tests.helpers.configs import BILMS, evaluate


def test_options_of_the_released_bilms_are_those_their_files_are_named_after() -> None:
    bilms = evaluate(BILMS)
    released = {name for name in KNOWN_BILMS if KNOWN_BILMS[name].startswith("https://")}

    assert all(bilms[name]["pretrained_file"] == name for name in released)
    for name in released:
        lstm, cnn = bilms[name]["options"]["lstm"], bilms[name]["options"]["char_cnn"]
        num_filters = sum(width for _, width in cnn["filters"])
        described = (
            f"elmo_{lstm['n_layers']}x{lstm['dim']}_{lstm['projection_dim']}"
            f"_{num_filters}cnn_{cnn['n_highway']}xhighway"
        )
        assert KNOWN_BILMS[name].rsplit("/", 1)[1].startswith(described)
