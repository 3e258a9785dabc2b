from typing import Any, NamedTuple

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.spelling import did_you_mean

STATES = ("reset", "snapshot", "carry")

# The bounds of the options. The released biLMs are far below: two layers of 4096, 2048 filters and
# 94 million parameters. Without the bounds, a damaged file could ask for all memory.
MAX_LAYERS = 100
MAX_WIDTH = 100_000
MAX_PARAMETERS = 10**9
MAX_WORDS = 10**7

# The names that are read, by their sections. Other names are allowed, such as bilm-tf's settings of
# a training, but no misspelling of these.
_NAMES = {
    "": ("char_cnn", "lstm", "state", "n_tokens_vocab"),
    "char_cnn": (
        "filters activation embedding max_characters_per_token n_highway n_characters"
    ).split(),
    "char_cnn.embedding": ("dim",),
    "lstm": "n_layers dim projection_dim cell_clip proj_clip use_skip_connections".split(),
}


class BiLmOptions(NamedTuple):
    """
    Holds the checked values of an `options.json` in bilm-tf's format (Peters et al. 2018, section
    3.2; supplement A gives the released sizes). A number of layers or convolutions is at most
    `MAX_LAYERS`, a width or number of filters at most `MAX_WIDTH`, and all parameters together at
    most `MAX_PARAMETERS`.

    # Parameters

    filters : `tuple[tuple[int, int], ...]`
        Pairs (width in characters, number of filters), one per convolution, in the file's order.
    activation : `str`
        `relu` or `tanh`, applied to the maximum of each filter over a token.
    char_dim : `int`
        Width of a character embedding.
    max_characters : `int`
        The number of character ids per token, word boundaries and padding included: 50.
    num_highway : `int`
        The number of highway layers over the filters; 0 or more.
    num_layers : `int`
        The number of LSTM layers in each direction.
    cell_dim, projection_dim : `int`
        Widths of an LSTM's memory and of its output.
    cell_clip, projection_clip : `float | None`
        Bounds on the memory and on the projected output; `None` (or 0 in the file) for no bound.
    skip_connections : `bool`
        Whether the input of a layer is added to its output, from the second layer on.
    state : `str | None`
        The state that the LSTMs start from (see `state.py`); bilm-tf's files lack this key.
    num_words : `int`
        The number of words of a biLM that reads words, or 0. Without `char_cnn`, the values that
        describe characters are 0 or empty.
    word_dim, num_listed : `int`
        Of a biLM of ELMoForManyLangs, the width of the vectors of words, and the number of its
        characters; otherwise 0.
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
        """The number of char ids, of which 0 is the padding of a batch."""
        return self.num_listed + 1 if self.num_listed else 262

    def described(self) -> str:
        """
        Returns all options but the state, for a fingerprint. A default is left out, so that a new
        option changes no fingerprint.
        """
        values, defaults = self._replace(state=None)._asdict().items(), self._field_defaults
        told = (f"{name}={value!r}" for name, value in values if value or name not in defaults)
        return f"BiLmOptions({', '.join(told)})"

    @classmethod
    def from_dict(cls, options: dict[str, Any]) -> "BiLmOptions":
        """Reads options; raises `ConfigurationError` with every key that is missing or wrong."""
        parsed, problems = cls.parse(options)
        if problems:
            raise ConfigurationError(f"options: {'; '.join(problems)}")
        return parsed

    @classmethod
    def parse(cls, options: dict[str, Any]) -> tuple["BiLmOptions", list[str]]:
        """
        Returns the options and a list of all problems with them. If there are problems, some
        options are `None`.
        """
        if options.get("char_cnn") is None and options.get("n_tokens_vocab") is not None:
            return cls._parse_without_characters(options)
        values = _Values(options)
        of_words: dict[str, Any] = {}
        if options.get("many_langs") is not None:
            of_words = {
                "num_words": values.get("n_tokens_vocab", most=MAX_WORDS),
                "word_dim": values.get("many_langs.word_dim"),
                "num_listed": values.get("char_cnn.n_characters"),
            }
        parsed = cls(
            filters=values.filters("char_cnn.filters"),
            activation=values.get("char_cnn.activation", str),
            char_dim=values.get("char_cnn.embedding.dim"),
            max_characters=values.get("char_cnn.max_characters_per_token", int, 50, most=256),
            num_highway=values.get("char_cnn.n_highway", int, 0, least=0, most=MAX_LAYERS),
            **values.lstm(),
            **of_words,
        )
        # bilm-tf trains with 261 characters and predicts with 262. The additional one is padding,
        # which has no weights.
        num_characters = values.get("char_cnn.n_characters", int, 262)
        values.expect(
            bool(of_words) or num_characters in (261, 262, None),
            "char_cnn.n_characters must be 262 (or 261, as while training with bilm-tf), but is "
            f"{num_characters}",
        )
        values.expect(
            parsed.activation in ("relu", "tanh", None),
            f"char_cnn.activation must be relu or tanh, but is {parsed.activation!r:.80}",
        )
        widest = max((width for width, _ in parsed.filters), default=0)
        values.expect(
            parsed.max_characters is None or widest <= parsed.max_characters,
            f"char_cnn.filters has width {widest}, more than the {parsed.max_characters} "
            "characters of a token",
        )
        values.expect(
            parsed.num_filters <= MAX_WIDTH,
            f"char_cnn.filters has {parsed.num_filters} filters; at most {MAX_WIDTH} are allowed",
        )
        return parsed, values.all_problems(parsed)

    @classmethod
    def _parse_without_characters(cls, options: dict[str, Any]) -> tuple["BiLmOptions", list[str]]:
        values = _Values(options)
        parsed = cls(
            filters=(),
            activation="",
            char_dim=0,
            max_characters=50,
            num_highway=0,
            **values.lstm(),
            num_words=values.get("n_tokens_vocab", most=MAX_WORDS) or 0,
        )
        return parsed, values.all_problems(parsed)


class _Values:
    """
    Looks up values in nested options by dotted paths, and collects the problems with them in
    `problems`. A wrong value is returned as `None`.
    """

    def __init__(self, options: dict[str, Any]) -> None:
        self._options = options
        self.problems: list[str] = []

    def expect(self, holds: bool, problem: str) -> None:
        # Several values may be missing for the same reason: their section is missing.
        if not holds and problem not in self.problems:
            self.problems.append(problem)

    def expect_no_misspelt(self) -> None:
        for place, known in _NAMES.items():
            if place.startswith("char_cnn") and self._options.get("char_cnn") is None:
                continue
            section, _ = self._section(f"{place}.x") if place else (self._options, "")
            for name in (section or {}).keys() - set(known):
                nearest = did_you_mean(name, known)
                where = f"{place}.{name}" if place else name
                self.expect(not nearest, f"{where} is no option{nearest}")

    def get(
        self,
        path: str,
        kind: Any = int,
        default: Any = None,
        least: float = 1,
        most: float = MAX_WIDTH,
    ) -> Any:
        section, key = self._section(path)
        if section is None:
            return None
        value = section.get(key)
        value = default if value is None else value
        if value is None:
            self.expect(False, f"{path} is missing")
            return None
        wrong_kind = not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool)
        if wrong_kind or (not isinstance(value, (str, bool)) and not value >= least):
            self.expect(False, f"{path} cannot be {value!r:.80}")
            return None
        if not isinstance(value, (str, bool)) and value > most:
            self.expect(False, f"{path} can be at most {most}, but is {value!r:.80}")
            return None
        return value

    def lstm(self) -> dict[str, Any]:
        """Returns the values of the LSTMs and the state, by the names of `BiLmOptions`."""
        return {
            "num_layers": self.get("lstm.n_layers", most=MAX_LAYERS),
            "cell_dim": self.get("lstm.dim"),
            "projection_dim": self.get("lstm.projection_dim"),
            "cell_clip": self.clip("lstm.cell_clip"),
            "projection_clip": self.clip("lstm.proj_clip"),
            "skip_connections": self.get("lstm.use_skip_connections", bool, False),
            "state": self._options.get("state"),
        }

    def all_problems(self, parsed: BiLmOptions) -> list[str]:
        """Returns the problems, those with all options together included."""
        self.expect(
            parsed.state in (None, *STATES),
            f"state must be one of {', '.join(STATES)}, but is {parsed.state!r:.80}",
        )
        self.expect_no_misspelt()
        if not self.problems:
            count = num_parameters(parsed)
            self.expect(
                count <= MAX_PARAMETERS,
                f"the biLM would have {count:,} parameters; at most {MAX_PARAMETERS:,} are allowed",
            )
        return self.problems

    def clip(self, path: str) -> float | None:
        value = self.get(path, (int, float), 0, least=0, most=1e30)
        # 3.0 becomes 3, so that both have the same fingerprint.
        return (int(value) if value == round(value) else value) if value else None

    def filters(self, path: str) -> tuple[tuple[int, int], ...]:
        section, key = self._section(path)
        filters = (section or {}).get(key)
        if not isinstance(filters, list) or not filters:
            self.expect(section is None, f"{path} is missing")
            return ()
        if len(filters) > MAX_LAYERS:
            self.expect(False, f"{path} has {len(filters)} pairs; at most {MAX_LAYERS} are allowed")
            return ()
        for pair in filters:
            if not _is_pair(pair):
                self.expect(
                    False,
                    f"{path} must be pairs of a width and a number of filters, not {pair!r:.80}; "
                    f"both can be at most {MAX_WIDTH}",
                )
                return ()
        return tuple((width, num_filters) for width, num_filters in filters)

    def _section(self, path: str) -> tuple[dict[str, Any] | None, str]:
        *parents, key = path.split(".")
        section: Any = self._options
        for depth, parent in enumerate(parents, start=1):
            section = section.get(parent)
            if not isinstance(section, dict):
                where = ".".join(parents[:depth])
                of_words = "; a biLM of words has n_tokens_vocab" if where == "char_cnn" else ""
                self.expect(False, f"{where} is missing, or is not an object{of_words}")
                return None, key
        return section, key


def _is_pair(value: Any) -> bool:
    is_pair = isinstance(value, (list, tuple)) and len(value) == 2
    return is_pair and all(type(part) is int and 0 < part <= MAX_WIDTH for part in value)


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
    """Adds the state, and the keys for which bilm-tf and AllenNLP have no default."""
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
