import copy
from dataclasses import dataclass, field
from typing import Any

from elmo_tasks.common.characters import MAX_CHARACTERS, MOST_CHARACTERS
from elmo_tasks.common.errors import ConfigurationError

STATES = ("reset", "snapshot", "carry")

# The bounds of the options. The released biLMs are far below them: two layers of 4096, 2048 filters
# and 94 million parameters. Without the bounds, a damaged file could ask for all memory.
MAX_LAYERS = 100
MAX_WIDTH = 100_000
MAX_PARAMETERS = 10**9
MAX_WORDS = 10**7


@dataclass(frozen=True)
class BiLmOptions:
    """
    The checked values of an `options.json` in bilm-tf's format (Peters et al. 2018, section 3.2;
    supplement A gives the released sizes).

    # Parameters

    filters: Pairs of a width in characters and a number of filters, in the file's order.
    activation: `relu` or `tanh`, applied to the maximum of each filter over a token.
    max_characters: The number of character ids per token, word boundaries and padding included.
    cell_dim, projection_dim: Widths of an LSTM's cell state and of its output.
    cell_clip, projection_clip: Bounds on the cell state and on the projected output; `None` (or 0
        in the file) for no bound.
    skip_connections: Whether the input of a layer is added to its output, from the second layer on.
    state: The state that the LSTMs start from (see `state.py`); bilm-tf's files lack this key.
    num_words: The number of words in the table of a biLM of words; otherwise 0. Without `char_cnn`,
        the values that describe characters are 0 or empty.
    word_dim, num_listed: For a biLM of ELMoForManyLangs, the width of its word vectors and the
        number of its characters; otherwise 0.
    raw: The content of the `options.json`, with the keys that only bilm-tf reads.
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
    raw: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def num_filters(self) -> int:
        return sum(num_filters for _, num_filters in self.filters)

    @property
    def num_characters(self) -> int:
        """The number of char ids. Id 0 is the padding of a batch."""
        return self.num_listed + 1 if self.num_listed else 262

    @classmethod
    def from_dict(cls, options: dict[str, Any]) -> "BiLmOptions":
        """
        Checks the content of an `options.json`. Ignores other keys, such as bilm-tf's training
        settings. Raises `ConfigurationError` with the first key that is missing or wrong.
        """
        of_words = options.get("char_cnn") is None and options.get("n_tokens_vocab") is not None
        of_tokens = _word_sizes(options) if of_words else _character_sizes(options)
        state = options.get("state")
        _check(
            state in (None, *STATES),
            f"state must be one of {', '.join(STATES)}, but is {state!r:.80}",
        )
        bilm_options = cls(
            **of_tokens,
            num_layers=_value(options, "lstm.n_layers", most=MAX_LAYERS),
            cell_dim=_value(options, "lstm.dim"),
            projection_dim=_value(options, "lstm.projection_dim"),
            cell_clip=_clip(options, "lstm.cell_clip"),
            projection_clip=_clip(options, "lstm.proj_clip"),
            skip_connections=_value(options, "lstm.use_skip_connections", bool, False),
            state=state,
            raw=copy.deepcopy(options),
        )
        count = num_parameters(bilm_options)
        _check(
            count <= MAX_PARAMETERS,
            f"the biLM would have {count:,} parameters; at most {MAX_PARAMETERS:,} are allowed",
        )
        return bilm_options


def _check(holds: bool, problem: str) -> None:
    if not holds:
        raise ConfigurationError(f"options: {problem}")


def _value(
    options: dict[str, Any],
    path: str,
    kind: Any = int,
    default: Any = None,
    least: float = 1,
    most: float = MAX_WIDTH,
) -> Any:
    """
    Returns the value at a dotted path. Raises `ConfigurationError` if the value is not of type
    `kind`, or is a number below `least` or above `most`.
    """
    *sections, key = path.split(".")
    section: Any = options
    for depth, name in enumerate(sections, start=1):
        section = section.get(name)
        of_words = "; a biLM of words has n_tokens_vocab" if name == "char_cnn" else ""
        section_path = ".".join(sections[:depth])
        _check(
            isinstance(section, dict), f"{section_path} is missing, or is not an object{of_words}"
        )
    value: Any = default if section.get(key) is None else section[key]
    _check(value is not None, f"{path} is missing")
    right_kind = isinstance(value, kind) and isinstance(value, bool) == (kind is bool)
    is_number = right_kind and isinstance(value, int | float) and kind is not bool
    _check(right_kind and (not is_number or value >= least), f"{path} cannot be {value!r:.80}")
    _check(not (is_number and value > most), f"{path} can be at most {most}, but is {value!r:.80}")
    return value


def _clip(options: dict[str, Any], path: str) -> float | None:
    value = _value(options, path, (int, float), 0, least=0, most=1e30)
    # 3.0 becomes 3, so that both have the same fingerprint.
    return (int(value) if value == round(value) else value) or None


def _filters(options: dict[str, Any]) -> tuple[tuple[int, int], ...]:
    path = "char_cnn.filters"
    filters = _value(options, path, list)
    _check(
        0 < len(filters) <= MAX_LAYERS,
        f"{path} has {len(filters)} pairs; it must have 1 to {MAX_LAYERS}",
    )
    for pair in filters:
        is_pair = isinstance(pair, list | tuple) and len(pair) == 2
        _check(
            is_pair and all(type(part) is int and 0 < part <= MAX_WIDTH for part in pair),
            f"{path} must be pairs of a width and a number of filters, not {pair!r:.80}; "
            f"both can be at most {MAX_WIDTH}",
        )
    num_filters = sum(number for _, number in filters)
    _check(
        num_filters <= MAX_WIDTH,
        f"{path} has {num_filters} filters; at most {MAX_WIDTH} are allowed",
    )
    return tuple((width, number) for width, number in filters)


def _word_sizes(options: dict[str, Any]) -> dict[str, Any]:
    num_words = _value(options, "n_tokens_vocab", most=MAX_WORDS)
    nothing = {"filters": (), "activation": "", "char_dim": 0, "num_highway": 0}
    return {**nothing, "max_characters": MAX_CHARACTERS, "num_words": num_words}


def _character_sizes(options: dict[str, Any]) -> dict[str, Any]:
    activation = _value(options, "char_cnn.activation", str)
    _check(
        activation in ("relu", "tanh"),
        f"char_cnn.activation must be relu or tanh, but is {activation!r:.80}",
    )
    characters = _value(
        options, "char_cnn.max_characters_per_token", int, MAX_CHARACTERS, most=MOST_CHARACTERS
    )
    filters = _filters(options)
    widest = max(width for width, _ in filters)
    _check(
        widest <= characters,
        f"char_cnn.filters has width {widest}, more than the {characters} characters of a token",
    )
    fields = {
        "filters": filters,
        "activation": activation,
        "char_dim": _value(options, "char_cnn.embedding.dim"),
        "max_characters": characters,
        "num_highway": _value(options, "char_cnn.n_highway", int, 0, least=0, most=MAX_LAYERS),
    }
    num_characters = _value(options, "char_cnn.n_characters", int, 262)
    if options.get("many_langs") is not None:
        return {
            **fields,
            "num_words": _value(options, "n_tokens_vocab", most=MAX_WORDS),
            "word_dim": _value(options, "many_langs.word_dim"),
            "num_listed": num_characters,
        }
    # bilm-tf trains with 261 characters and predicts with 262. The additional one is padding, which
    # has no weights.
    _check(
        num_characters in (261, 262),
        "char_cnn.n_characters must be 262 (or 261, as while training with bilm-tf), but is "
        f"{num_characters}",
    )
    return fields


def num_parameters(options: BiLmOptions) -> int:
    """Returns how many numbers a file of weights with these options has."""
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


def options_to_write(options: BiLmOptions, state: str) -> dict[str, Any]:
    """
    Returns the content of an `options.json` to write: the raw options, the start state, and the
    keys that bilm-tf and AllenNLP need.
    """
    raw = options.raw
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
