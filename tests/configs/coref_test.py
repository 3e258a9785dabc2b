from typing import Any

from tests.helpers.configs import config


def test_widths_of_the_paper_follow() -> None:
    model = config("coref", "paper")["model"]
    both = config("coref", "paper", "{ elmo_at: ['input', 'output'] }")["model"]

    # GloVe has 300, three filters of 50 characters 150, and the original biLM 1024.
    x_dim, h_dim = 300 + 3 * 50 + 1024, 2 * 200
    assert (model["encoder"]["input_size"], model["encoder"]["hidden_size"]) == (x_dim, 200)
    span_dim = 2 * h_dim + 20 + x_dim
    assert model["mention_feedforward"]["input_dim"] == span_dim
    assert model["antecedent_feedforward"]["input_dim"] == 3 * span_dim + 3 * 20
    assert both["mention_feedforward"]["input_dim"] == span_dim + 2 * 1024


def test_places_change_the_embedder_and_the_widths_that_follow_alone() -> None:
    models = {name: config("coref", name)["model"] for name in ("baseline", "input", "output")}
    mixes = {
        name: {part for part in model["text_embedder"] if part.endswith("mix")}
        for name, model in models.items()
    }

    assert mixes == {"baseline": set(), "input": {"input_mix"}, "output": {"output_mix"}}
    assert models["baseline"]["encoder"] == models["output"]["encoder"]
    for name, wider in (("input", 256), ("output", 2 * 256)):
        widths = [models[each]["mention_feedforward"]["input_dim"] for each in ("baseline", name)]
        assert widths[1] - widths[0] == wider


def test_words_are_padded_to_the_widest_filter_of_their_characters() -> None:
    def indexer(change: str) -> dict[str, Any]:
        return config("coref", "input", change)["dataset_reader"]["token_indexers"]

    assert indexer("{}")["token_characters"]["min_padding_length"] == 5
    assert "token_characters" not in indexer("{ characters: null }")


def test_choices_of_the_reader_are_fields() -> None:
    change = "{ columns: ['word', 'coreference'], genre_pattern: '(.)', singletons: true }"

    reader = config("coref", "input", change, "{ max_words: 9, language: 'de' }")["dataset_reader"]
    skipping = config("coref", "input", "{ wrong_mentions: 'skip' }")["dataset_reader"]

    expected = {
        "columns": ["word", "coreference"],
        "genre_pattern": "(.)",
        "singletons": True,
        "max_words": 9,
        "language": "de",
    }
    assert {name: reader[name] for name in expected} == expected
    assert skipping["wrong_mentions"] == "skip"
