from typing import Any

from tests.helpers.configs import config


def test_widths_of_the_paper_follow() -> None:
    encoder = config("srl", "paper")["model"]["encoder"]
    changed = config("srl", "paper", "{ elmo_at: ['output'], predicate_dim: 7 }")["model"]

    # GloVe and the mark of the predicate have 100 each, the original biLM 1024.
    assert (encoder["input_size"], encoder["hidden_size"]) == (100 + 1024 + 100, 300)
    assert changed["encoder"]["input_size"] == 100 + 7
    assert changed["predicate_dim"] == 7


def test_words_are_looked_up_in_lower_case_unless_their_vectors_have_both() -> None:
    def indexer(name: str, change: str = "{}") -> dict[str, Any]:
        return config("srl", name, change)["dataset_reader"]["token_indexers"]["tokens"]

    assert indexer("paper") == {"type": "single_id", "lowercase_tokens": True}
    cased = "{ word_vectors: 'glove.840B', lowercase: false }"
    assert indexer("input", cased) == {"type": "single_id", "lowercase_tokens": False}


def test_vectors_of_the_paper_are_trained() -> None:
    embedders = config("srl", "paper")["model"]["text_embedder"]["words"]["token_embedders"]

    assert embedders["tokens"]["trainable"] is True


def test_columns_of_another_layout_are_read_by_naming_them() -> None:
    changed = config("srl", "input", "{ columns: ['word', 'predicate', 'roles'] }")

    assert changed["dataset_reader"]["columns"] == ["word", "predicate", "roles"]
