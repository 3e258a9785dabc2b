import numpy
import pytest

from elmo_tasks.elmo import ElmoEncoder
from elmo_tasks.serve.layer_cosines import layer_cosines


def test_the_cosines_are_those_of_the_encoders_vectors() -> None:
    encoder = ElmoEncoder.from_pretrained("mini", as_numpy=True)

    answer = layer_cosines(encoder.layers, {"sentence": "They play a play."})

    assert answer["tokens"] == ["They", "play", "a", "play", "."]
    assert answer["layers"] == ["tokens", "LSTM 1", "LSTM 2"]
    outputs = encoder([answer["tokens"]])
    for cosines, name in zip(answer["cosines"], ("word_emb", "lstm_outputs1", "lstm_outputs2")):
        vectors = outputs[name][0].astype("float64")
        units = vectors / numpy.linalg.norm(vectors, axis=1, keepdims=True)
        numpy.testing.assert_allclose(cosines, units @ units.T, atol=2e-4)
    # The token layer ignores the context.
    assert answer["cosines"][0][1][3] == pytest.approx(1)
    assert answer["cosines"][2][1][3] < 0.99
