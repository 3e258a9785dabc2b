from pathlib import Path
from typing import Any

import pytest
from allennlp.commands.train import train_model
from allennlp.common import Params

from tests.helpers.configs import config, tiny


def test_widths_of_the_paper_follow() -> None:
    encoders = config("ner", "paper")["model"]["encoders"]
    changed = config("ner", "paper", "{ elmo_at: ['output'], hidden_dims: [7] }")

    # Senna has 50, the characters 128, the original biLM 1024.
    assert [encoder["input_size"] for encoder in encoders] == [50 + 128 + 1024, 400]
    assert [encoder["hidden_size"] for encoder in encoders] == [200, 100]
    assert [encoder["input_size"] for encoder in changed["model"]["encoders"]] == [50 + 128]


def test_words_are_looked_up_as_their_vectors_have_them() -> None:
    def indexer(name: str, change: str = "{}") -> dict[str, Any]:
        return config("ner", name, change)["dataset_reader"]["token_indexers"]["tokens"]

    assert indexer("paper") == {"type": "elmo_folded_id", "lowercase_tokens": True}
    assert indexer("input") == {"type": "single_id", "lowercase_tokens": True}
    cased = "{ word_vectors: 'glove.840B', lowercase: false }"
    assert indexer("input", cased) == {"type": "single_id", "lowercase_tokens": False}


def test_penalty_is_the_paper_s_unless_a_variant_says_otherwise() -> None:
    def penalty(name: str) -> list[Any]:
        return [
            (regex, penalty["alpha"])
            for regex, penalty in config("ner", name)["model"]
            .get("regularizer", {})
            .get("regexes", [])
        ]

    for name in ("input", "output", "both", "paper"):
        assert penalty(name) == [("scalar_parameters", 0.1)]
    assert penalty("lambda_1") == [("scalar_parameters", 1)]
    # One layer has no weights.
    assert penalty("baseline") == penalty("last_only") == []


def test_file_of_two_columns_is_trained_on_by_naming_them(tmp_path: Path) -> None:
    data = tmp_path / "ner.tsv"
    data.write_text(
        "Кит\tB-PER\nПетров\tI-PER\nв\tO\n北京\tB-LOC\n\nZoë\tB-PER\n", encoding="utf-8"
    )
    change = f"""{{
        columns: ['word', 'ner'], file_scheme: 'BIO', scheme: 'BIO', language: 'ru', min_count: 1,
        train_data_path: '{data}', validation_data_path: '{data}',
    }}"""

    model = train_model(Params(tiny("ner", "both", change)), str(tmp_path / "model"))

    tags = model.vocab.get_token_to_index_vocabulary("labels")
    assert set(tags) == {"O", "B-PER", "I-PER", "B-LOC", "I-LOC"}
    assert "петров" in model.vocab.get_token_to_index_vocabulary("tokens")


def test_type_that_only_the_validation_data_has_is_reported_with_file_and_line(
    tmp_path: Path,
) -> None:
    validation = tmp_path / "validation.txt"
    validation.write_text("The DT O O\neuro NN O I-CASH\n")
    params = tiny("ner", "baseline", f"{{ validation_data_path: '{validation}' }}")

    with pytest.raises(
        ValueError, match="validation.txt:2: the model does not know the tag U-CASH"
    ):
        train_model(Params(params), str(tmp_path / "model"))
