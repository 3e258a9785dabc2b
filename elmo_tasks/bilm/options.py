from typing import Any, NamedTuple

from allennlp.common.checks import ConfigurationError

STATES = ("reset", "snapshot", "carry")


class BiLmOptions(NamedTuple):
    """
    The numbers in an `options.json` of the bilm-tf layout (section 3.2; supplement A of
    Peters et al. 2018 gives the released sizes), read and checked once.

    # Parameters

    filters : `tuple[tuple[int, int], ...]`
        (width in characters, number of filters) of each convolution, in the order of the file.
    activation : `str`
        `relu` or `tanh`, after the maximum over the characters of a token.
    char_dim : `int`
        Width of a character's embedding.
    max_characters : `int`
        Character ids a token has, boundaries of the word and padding included: 50.
    num_highway : `int`
        Highway layers over the filters; may be 0.
    num_layers : `int`
        LSTM layers of each direction.
    cell_dim, projection_dim : `int`
        Width of an LSTM's memory and of what it puts out.
    cell_clip, projection_clip : `float | None`
        Bounds on the memory and on the projected output; `None` (or 0) for none.
    skip_connections : `bool`
        Whether the input of a layer is added to its output, from the second layer on.
    state : `str | None`
        What the LSTMs start from, where the file says so (ours do, see `state.py`).
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

    @property
    def num_filters(self) -> int:
        return sum(number for _, number in self.filters)

    @classmethod
    def from_dict(cls, options: dict[str, Any]) -> "BiLmOptions":
        """Raises `ConfigurationError` with the key that is missing or cannot be."""
        cnn, lstm = _section(options, "char_cnn"), _section(options, "lstm")
        # bilm-tf trains with 261 characters and predicts with 262, the 262nd being our padding;
        # the same weights fit both.
        if _value(cnn, "char_cnn", "n_characters", int, 262) not in (261, 262):
            raise ConfigurationError(
                "options: char_cnn.n_characters must be 262 (or 261, as while training with "
                f"bilm-tf), but is {cnn['n_characters']}"
            )
        parsed = cls(
            filters=_filters(cnn),
            activation=_value(cnn, "char_cnn", "activation", str),
            char_dim=_value(_section(cnn, "embedding", "char_cnn."), "char_cnn.embedding", "dim"),
            max_characters=_value(cnn, "char_cnn", "max_characters_per_token", int, 50),
            num_highway=_value(cnn, "char_cnn", "n_highway", int, 0, least=0),
            num_layers=_value(lstm, "lstm", "n_layers"),
            cell_dim=_value(lstm, "lstm", "dim"),
            projection_dim=_value(lstm, "lstm", "projection_dim"),
            cell_clip=_value(lstm, "lstm", "cell_clip", (int, float), 0, least=0) or None,
            projection_clip=_value(lstm, "lstm", "proj_clip", (int, float), 0, least=0) or None,
            skip_connections=_value(lstm, "lstm", "use_skip_connections", bool, False),
            state=options.get("state"),
        )
        if parsed.activation not in ("relu", "tanh"):
            raise ConfigurationError(
                f"options: char_cnn.activation must be relu or tanh, but is {parsed.activation!r}"
            )
        widest = max(width for width, _ in parsed.filters)
        if widest > parsed.max_characters:
            raise ConfigurationError(
                f"options: char_cnn.filters has width {widest}, more than the "
                f"{parsed.max_characters} characters of a token"
            )
        if parsed.state not in (None, *STATES):
            raise ConfigurationError(
                f"options: state must be one of {', '.join(STATES)}, but is {parsed.state!r}"
            )
        return parsed


def _section(options: dict[str, Any], key: str, parent: str = "") -> dict[str, Any]:
    section = options.get(key)
    if not isinstance(section, dict):
        raise ConfigurationError(f"options: {parent}{key} is missing, or is not an object")
    return section


def _value(section, name: str, key: str, kind=int, default=None, least: float = 1):
    value = section.get(key)
    if value is None:
        value = default
    if value is None:
        raise ConfigurationError(f"options: {name}.{key} is missing")
    wrong_kind = not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool)
    if wrong_kind or (not isinstance(value, (str, bool)) and value < least):
        raise ConfigurationError(f"options: {name}.{key} cannot be {value!r}")
    return value


def _filters(cnn: dict[str, Any]) -> tuple[tuple[int, int], ...]:
    filters = cnn.get("filters")
    if not isinstance(filters, list) or not filters:
        raise ConfigurationError(
            "options: char_cnn.filters is missing; this reads biLMs over characters only"
        )
    for pair in filters:
        right = isinstance(pair, (list, tuple)) and len(pair) == 2
        if not right or not all(isinstance(number, int) and number > 0 for number in pair):
            raise ConfigurationError(
                f"options: char_cnn.filters must be pairs of a width and a number, not {pair!r}"
            )
    return tuple((width, number) for width, number in filters)
