from typing import Any, NamedTuple

from elmo_tasks.bilm.files.option_values import (
    MAX_LAYERS,
    MAX_PARAMETERS,
    MAX_WIDTH,
    MAX_WORDS,
    OptionValues,
)
from elmo_tasks.common.errors import ConfigurationError

STATES = ("reset", "snapshot", "carry")


class BiLmOptions(NamedTuple):
    """
    The checked values of an `options.json` in bilm-tf's format (Peters et al. 2018, section 3.2;
    supplement A gives the released sizes).

    # Parameters

    filters: Pairs of a width in characters and a number of filters, in the file's order.
    activation: `relu` or `tanh`, applied to the maximum of each filter over a token.
    max_characters: The number of character ids per token, word boundaries and padding included.
    cell_dim, projection_dim: Widths of an LSTM's memory and of its output.
    cell_clip, projection_clip: Bounds on the memory and on the projected output; `None` (or 0 in
        the file) for no bound.
    skip_connections: Whether the input of a layer is added to its output, from the second layer on.
    state: The state that the LSTMs start from (see `state.py`); bilm-tf's files lack this key.
    num_words: The number of words of a biLM that reads words, or 0. Without `char_cnn`, the values
        that describe characters are 0 or empty.
    word_dim, num_listed: For a biLM of ELMoForManyLangs, the width of its word vectors and the
        number of its characters; otherwise 0.
    """

    filters: tuple[tuple[int, int], ...]
    activation: str
    char_dim: int
    max_characters: int
    num_highway: int
    num_layers: int
    cell_dim: int
    projection_dim: int
    cell_clip: float | None
    projection_clip: float | None
    skip_connections: bool
    state: str | None
    num_words: int = 0
    word_dim: int = 0
    num_listed: int = 0

    @property
    def num_filters(self) -> int:
        return sum(num_filters for _, num_filters in self.filters)

    @property
    def num_characters(self) -> int:
        """The number of char ids. Id 0 is the padding of a batch."""
        return self.num_listed + 1 if self.num_listed else 262

    def described(self) -> str:
        """
        Returns all options but the state, for a fingerprint. Options with their default are left
        out, so that a new option changes no fingerprint.
        """
        values, defaults = self._replace(state=None)._asdict().items(), self._field_defaults
        told = (f"{name}={value!r}" for name, value in values if value or name not in defaults)
        return f"BiLmOptions({', '.join(told)})"

    @classmethod
    def from_dict(cls, options: dict[str, Any]) -> "BiLmOptions":
        """Reads options; raises `ConfigurationError` with every key that is missing or wrong."""
        values = OptionValues(options)
        of_words = options.get("char_cnn") is None and options.get("n_tokens_vocab") is not None
        fields = _of_words(values) if of_words else _of_characters(values)
        # A value with a problem is `None`.
        parsed = cls(**fields, **values.lstm())
        values.expect(
            parsed.state in (None, *STATES),
            f"state must be one of {', '.join(STATES)}, but is {parsed.state!r:.80}",
        )
        values.expect_no_misspelt()
        if not values.problems:
            count = num_parameters(parsed)
            values.expect(
                count <= MAX_PARAMETERS,
                f"the biLM would have {count:,} parameters; at most {MAX_PARAMETERS:,} are allowed",
            )
        if values.problems:
            raise ConfigurationError(f"options: {'; '.join(values.problems)}")
        return parsed


def _of_words(values: OptionValues) -> dict[str, Any]:
    num_words = values.get("n_tokens_vocab", most=MAX_WORDS) or 0
    nothing = {"filters": (), "activation": "", "char_dim": 0, "num_highway": 0}
    return {**nothing, "max_characters": 50, "num_words": num_words}


def _of_characters(values: OptionValues) -> dict[str, Any]:
    fields = {
        "filters": values.filters("char_cnn.filters"),
        "activation": values.get("char_cnn.activation", str),
        "char_dim": values.get("char_cnn.embedding.dim"),
        "max_characters": values.get("char_cnn.max_characters_per_token", int, 50, most=256),
        "num_highway": values.get("char_cnn.n_highway", int, 0, least=0, most=MAX_LAYERS),
    }
    if values.has("many_langs"):
        fields["num_words"] = values.get("n_tokens_vocab", most=MAX_WORDS)
        fields["word_dim"] = values.get("many_langs.word_dim")
        fields["num_listed"] = values.get("char_cnn.n_characters")
    else:
        # bilm-tf trains with 261 characters and predicts with 262. The additional one is padding,
        # which has no weights.
        number = values.get("char_cnn.n_characters", int, 262)
        values.expect(
            number in (261, 262, None),
            "char_cnn.n_characters must be 262 (or 261, as while training with bilm-tf), but is "
            f"{number}",
        )
    activation, characters = fields["activation"], fields["max_characters"]
    values.expect(
        activation in ("relu", "tanh", None),
        f"char_cnn.activation must be relu or tanh, but is {activation!r:.80}",
    )
    widest = max((width for width, _ in fields["filters"]), default=0)
    values.expect(
        characters is None or widest <= characters,
        f"char_cnn.filters has width {widest}, more than the {characters} characters of a token",
    )
    num_filters = sum(number for _, number in fields["filters"])
    values.expect(
        num_filters <= MAX_WIDTH,
        f"char_cnn.filters has {num_filters} filters; at most {MAX_WIDTH} are allowed",
    )
    return fields


def num_parameters(options: BiLmOptions) -> int:
    """Counts the numbers in a file of weights with these options."""
    n, p, c = options.num_filters, options.projection_dim, options.cell_dim
    lstms = 2 * options.num_layers * ((2 * p + 1) * 4 * c + c * p)
    if options.num_words and not options.word_dim:
        return options.num_words * p + lstms
    words = (options.num_words + p) * options.word_dim
    convolutions = sum(
        (width * options.char_dim + 1) * num_filters for width, num_filters in options.filters
    )
    highways = 2 * options.num_highway * (n + 1) * n
    characters = (options.num_characters - 1) * options.char_dim
    return words + characters + convolutions + highways + (n + 1) * p + lstms


def exported(raw: dict[str, Any], options: BiLmOptions, state: str) -> dict[str, Any]:
    """Returns raw options with the state, and the keys that bilm-tf and AllenNLP need."""
    lstm = {"cell_clip": None, "proj_clip": None, **raw["lstm"]}
    if options.num_words:
        return {**raw, "lstm": lstm, "n_tokens_vocab": options.num_words, "state": state}
    char_cnn = {
        **raw["char_cnn"],
        "n_highway": options.num_highway,
        "n_characters": 262,
        "max_characters_per_token": options.max_characters,
    }
    return {**raw, "lstm": lstm, "char_cnn": char_cnn, "state": state}
