import pytest

from tests.helpers.configs import config, differences


def test_last_only_and_lambda_1_are_both_with_one_change() -> None:
    both, lambda_1, last_only = (config("sst", n) for n in ("both", "lambda_1", "last_only"))

    regularizer = "model.regularizer.regexes.0"
    assert differences(both, lambda_1) == {f"{regularizer}.1.alpha"}
    mixes = {f"model.text_embedder.{place}_mix.layers" for place in ("input", "output")}
    penalty = {f"{regularizer}.0", f"{regularizer}.1.type", f"{regularizer}.1.alpha"}
    assert differences(both, last_only) == mixes | penalty


def test_places_change_the_embedder_and_the_width_they_widen() -> None:
    baseline = config("sst", "baseline")

    def changed(name: str) -> set[str]:
        ignored = ("model.text_embedder.bilm.", "model.regularizer.", "dataset_reader.")
        different = differences(baseline, config("sst", name))
        kept = {path for path in different if not path.startswith((*ignored, "validation_data"))}
        return {path.replace(".layers", "").replace(".dropout", "") for path in kept}

    at_input = {"model.text_embedder.input_mix", "model.feedforward.input_dim"}
    at_output = {"model.text_embedder.output_mix", "model.integrator.input_size"}
    assert changed("input") == at_input
    assert changed("output") == at_output
    assert changed("both") == at_input | at_output
    # Without ELMo there are no char ids to make.
    assert list(baseline["dataset_reader"]["token_indexers"]) == ["tokens"]
    assert list(baseline["model"]["text_embedder"]) == ["words"]
    assert "regularizer" not in baseline["model"]


def test_widths_of_the_paper_follow() -> None:
    model = config("sst", "paper")["model"]
    at_integrator = config("sst", "paper", "{ output_place: 'integrator' }")["model"]

    # GloVe has 300, the original biLM 1024, a biLSTM 2 * 300.
    assert model["feedforward"]["input_dim"] == 300 + 1024
    assert model["integrator"]["input_size"] == 3 * (600 + 1024)
    assert model["classifier"]["input_dim"] == 4 * 600
    assert at_integrator["integrator"]["input_size"] == 3 * 600
    assert at_integrator["classifier"]["input_dim"] == 4 * (600 + 1024)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ("{ granularity: 'fine' }", "granularity must be one of 2-class, 3-class, 5-class"),
        ("{ classifier: 'svm' }", "classifier must be one of feedforward, maxout, not svm"),
        ("{ output_place: 'roof' }", "'encoder' or 'integrator', not roof"),
    ],
)
@pytest.mark.parametrize("name", ["baseline", "both"])
def test_value_that_cannot_be_is_refused_by_jsonnet(name: str, change: str, complaint: str) -> None:
    with pytest.raises(RuntimeError, match=complaint):
        config("sst", name, change)
