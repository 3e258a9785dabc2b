import pytest
from allennlp.common import Params
from allennlp.data import Vocabulary
from allennlp.models import Model

from tests.helpers.configs import BILMS, config, differences


@pytest.mark.parametrize(
    ("elmo_at", "token", "attended"),
    [
        ([], 400, 720),
        (["input"], 1424, 720),
        (["output"], 400, 4816),
        (["input", "output"], 1424, 4816),
    ],
)
def test_widths_of_the_paper_follow(elmo_at: list[str], token: int, attended: int) -> None:
    # A biLM as wide as the original one, but with small layers inside, and random weights.
    bilm = f"""{BILMS}.original {{
        options+: {{ lstm+: {{ dim: 8 }}, char_cnn+: {{ filters: [[1, 4]] }} }},
        pretrained_file: null,
        requires_grad: true,
        state: 'reset',
    }}"""
    change = f"{{ elmo_at: {elmo_at}, bilm: {bilm}, word_vectors: {{ embedding_dim: 300 }} }}"
    params = config("squad", "paper", change)["model"]

    model = Model.from_params(Params(params), vocab=Vocabulary())

    # GloVe has 300, the characters 100, the original biLM 1024, a biGRU 2 * 90.
    assert model.encoder.get_input_dim() == token
    encoders = (model.residual_encoder, model.start_encoder, model.end_encoder)
    assert [encoder.get_input_dim() for encoder in encoders] == [180, 180, 360]
    assert {encoder.get_output_dim() for encoder in (model.encoder, *encoders)} == {180}
    assert model.attended.in_features == attended
    assert model.self_attended.in_features == 540


def test_the_best_of_the_paper_has_no_penalty_and_lambda_1_has() -> None:
    both, lambda_1, last_only = (config("squad", n) for n in ("both", "lambda_1", "last_only"))

    assert "regularizer" not in both["model"]
    (regex,) = lambda_1["model"]["regularizer"]["regexes"]
    assert regex == ["scalar_parameters", {"type": "l2", "alpha": 1}]
    assert differences(both, lambda_1) == {
        f"model.regularizer.regexes.0.{part}" for part in ("0", "1.type", "1.alpha")
    }
    mixes = {f"model.text_embedder.{place}_mix.layers" for place in ("input", "output")}
    assert differences(both, last_only) == mixes


def test_glove_is_frozen_with_its_lower_case_and_learned_vectors_are_not() -> None:
    paper, both = (
        config("squad", name)["model"]["text_embedder"]["words"]["token_embedders"]
        for name in ("paper", "both")
    )

    assert paper["tokens"]["type"] == "elmo_word_vectors"
    assert paper["token_characters"]["type"] == "elmo_character_cnn"
    assert both["tokens"]["type"] == "embedding"


def test_characters_can_be_left_out() -> None:
    changed = config("squad", "baseline", "{ characters: null }")

    assert list(changed["model"]["text_embedder"]["words"]["token_embedders"]) == ["tokens"]
    assert changed["model"]["encoder"]["input_size"] == 100
    assert changed["vocabulary"] == {"min_count": {"tokens": 6}}


def test_training_is_as_published() -> None:
    both = config("squad", "both")
    changed = config("squad", "both", "{ average_decay: 0.99 }")

    trainer = both["trainer"]
    assert trainer["optimizer"] == {"type": "adadelta", "lr": 1, "rho": 0.95, "eps": 1e-8}
    assert trainer["moving_average"]["decay"] == 0.999
    assert changed["trainer"]["moving_average"]["decay"] == 0.99
    assert trainer["moving_average"]["validate_on"] == "raw"
    assert "grad_norm" not in trainer and trainer["num_epochs"] == 24
    sampler = both["data_loader"]["batch_sampler"]
    assert (sampler["batch_size"], sampler["drop_last"]) == (45, True)


def test_every_question_is_validated_on_and_its_passage_whole() -> None:
    changed = config("squad", "both", "{ max_passage_tokens: 300 }")

    assert changed["dataset_reader"]["max_passage_tokens"] == 300
    assert "max_passage_tokens" not in changed["validation_dataset_reader"]
    assert "drop_last" not in changed["validation_data_loader"]["batch_sampler"]
