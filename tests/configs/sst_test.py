from tests.helpers.configs import config


def test_widths_of_the_paper_follow() -> None:
    model = config("sst", "paper")["model"]
    at_integrator = config("sst", "paper", "{ output_place: 'integrator' }")["model"]

    # GloVe has 300, the original biLM 1024, a biLSTM 2 * 300.
    assert model["feedforward"]["input_dim"] == 300 + 1024
    assert model["integrator"]["input_size"] == 3 * (600 + 1024)
    assert model["classifier"]["input_dim"] == 4 * 600
    assert at_integrator["integrator"]["input_size"] == 3 * 600
    assert at_integrator["classifier"]["input_dim"] == 4 * (600 + 1024)
