import json
from pathlib import Path
from typing import Any

import _jsonnet
import pytest

SQUAD = Path(__file__).parents[2] / "training_configs" / "squad"


def config(variant: str, change: str = "{}") -> dict[str, Any]:
    snippet = f"(import '{SQUAD}/{variant}.jsonnet') + {change}"
    return json.loads(_jsonnet.evaluate_snippet("test", snippet))


def leaves(value: Any, path: str = "") -> dict[str, Any]:
    """Every number and string of a config by its dotted path."""
    if isinstance(value, dict):
        return {k: v for key in value for k, v in leaves(value[key], f"{path}.{key}").items()}
    if isinstance(value, list):
        return {k: v for i, e in enumerate(value) for k, v in leaves(e, f"{path}.{i}").items()}
    return {path[1:]: value}


def differences(one: str, other: str) -> set[str]:
    first, second = leaves(config(one)), leaves(config(other))
    return {path for path in first.keys() | second.keys() if first.get(path) != second.get(path)}


def test_every_variant_is_there_and_a_line_over_the_library() -> None:
    names = {"baseline", "input", "output", "both", "last_only", "lambda_1", "paper"}
    assert {path.stem for path in SQUAD.glob("*.jsonnet")} >= names
    for path in SQUAD.glob("*.jsonnet"):
        assert len(path.read_text(encoding="utf-8").strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("elmo_at", "token", "attended"),
    [([], 400, 720), (["input"], 1424, 720), (["output"], 400, 4816)],
)
def test_widths_of_the_paper_follow(elmo_at: list[str], token: int, attended: int) -> None:
    # GloVe has 300, the characters 100, the original biLM 1024, a biGRU 2 * 90.
    model = config("paper", f"{{ elmo_at: {elmo_at} }}")["model"]
    assert model["encoder"]["input_size"] == token
    encoders = [model[f"{name}_encoder"] for name in ("residual", "start", "end")]
    assert [encoder["input_size"] for encoder in encoders] == [180, 180, 360]
    assert {encoder["hidden_size"] for encoder in (model["encoder"], *encoders)} == {90}
    has_output = "output_mix" in model["text_embedder"]
    assert attended == 4 * (180 + 1024 * has_output)


def test_the_best_of_the_paper_has_no_penalty_and_lambda_1_has() -> None:
    assert "regularizer" not in config("both")["model"]
    (regex,) = config("lambda_1")["model"]["regularizer"]["regexes"]
    assert regex == ["scalar_parameters", {"type": "l2", "alpha": 1}]
    assert differences("both", "lambda_1") == {
        f"model.regularizer.regexes.0.{part}" for part in ("0", "1.type", "1.alpha")
    }
    mixes = {f"model.text_embedder.{place}_mix.layers" for place in ("input", "output")}
    assert differences("both", "last_only") == mixes


def test_glove_is_frozen_with_its_lower_case_and_learned_vectors_are_not() -> None:
    embedders = config("paper")["model"]["text_embedder"]["words"]["token_embedders"]
    assert embedders["tokens"]["type"] == "elmo_word_vectors"
    assert embedders["token_characters"]["type"] == "elmo_character_cnn"
    embedders = config("both")["model"]["text_embedder"]["words"]["token_embedders"]
    assert embedders["tokens"]["type"] == "embedding"


def test_characters_can_be_left_out() -> None:
    changed = config("baseline", "{ characters: null }")
    assert list(changed["model"]["text_embedder"]["words"]["token_embedders"]) == ["tokens"]
    assert changed["model"]["encoder"]["input_size"] == 100
    assert changed["vocabulary"] == {"min_count": {}}


def test_training_is_as_published() -> None:
    trainer = config("both")["trainer"]
    assert trainer["optimizer"] == {"type": "adadelta", "lr": 1, "rho": 0.95, "eps": 1e-8}
    assert trainer["moving_average"]["decay"] == 0.999
    changed = config("both", "{ average_decay: 0.99 }")
    assert changed["trainer"]["moving_average"]["decay"] == 0.99
    assert trainer["moving_average"]["validate_on"] == "raw"
    assert "grad_norm" not in trainer and trainer["num_epochs"] == 24
    sampler = config("both")["data_loader"]["batch_sampler"]
    assert (sampler["batch_size"], sampler["drop_last"]) == (45, True)


def test_every_question_is_validated_on_and_its_passage_whole() -> None:
    changed = config("both", "{ max_passage_tokens: 300 }")
    assert changed["dataset_reader"]["max_passage_tokens"] == 300
    assert "max_passage_tokens" not in changed["validation_dataset_reader"]
    assert "drop_last" not in changed["validation_data_loader"]["batch_sampler"]


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ("{ validate_on: 'best' }", "validate_on must be 'raw' or 'average', not best"),
        ("{ wrong_answers: 'keep' }", "wrong_answers must be 'skip' or 'refuse', not keep"),
    ],
)
def test_value_that_cannot_be_is_refused_by_jsonnet(change: str, complaint: str) -> None:
    with pytest.raises(RuntimeError, match=complaint):
        config("both", change)
