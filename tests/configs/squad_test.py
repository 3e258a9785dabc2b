import pytest
from allennlp.common import Params
from allennlp.data import Vocabulary
from allennlp.models import Model

from tests.helpers.configs import BILMS, config


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
