import json
import os
from typing import Any, NamedTuple

from allennlp.common.file_utils import cached_path

from elmo_tasks.common.errors import ConfigurationError

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
        """Raises `ConfigurationError` with every key that is missing or cannot be."""
        parsed, problems = cls.parse(options)
        if problems:
            raise ConfigurationError(f"options: {'; '.join(problems)}")
        return parsed

    @classmethod
    def parse(cls, options: dict[str, Any]) -> tuple["BiLmOptions", list[str]]:
        """The options, and all that is wrong with them; where anything is, they are not whole."""
        values = _Values(options)
        parsed = cls(
            filters=values.filters("char_cnn.filters"),
            activation=values.get("char_cnn.activation", str),
            char_dim=values.get("char_cnn.embedding.dim"),
            max_characters=values.get("char_cnn.max_characters_per_token", int, 50),
            num_highway=values.get("char_cnn.n_highway", int, 0, least=0),
            num_layers=values.get("lstm.n_layers"),
            cell_dim=values.get("lstm.dim"),
            projection_dim=values.get("lstm.projection_dim"),
            cell_clip=values.get("lstm.cell_clip", (int, float), 0, least=0) or None,
            projection_clip=values.get("lstm.proj_clip", (int, float), 0, least=0) or None,
            skip_connections=values.get("lstm.use_skip_connections", bool, False),
            state=options.get("state"),
        )
        # bilm-tf trains with 261 characters and predicts with 262, the 262nd being our padding;
        # the same weights fit both.
        num_characters = values.get("char_cnn.n_characters", int, 262)
        values.expect(
            num_characters in (261, 262, None),
            "char_cnn.n_characters must be 262 (or 261, as while training with bilm-tf), but is "
            f"{num_characters}",
        )
        values.expect(
            parsed.activation in ("relu", "tanh", None),
            f"char_cnn.activation must be relu or tanh, but is {parsed.activation!r}",
        )
        widest = max((width for width, _ in parsed.filters), default=0)
        values.expect(
            parsed.max_characters is None or widest <= parsed.max_characters,
            f"char_cnn.filters has width {widest}, more than the {parsed.max_characters} "
            "characters of a token",
        )
        values.expect(
            parsed.state in (None, *STATES),
            f"state must be one of {', '.join(STATES)}, but is {parsed.state!r}",
        )
        return parsed, values.problems


def read_options(options_file: str | os.PathLike) -> dict[str, Any]:
    """The content of an `options.json`, by path or address."""
    try:
        with open(cached_path(options_file), encoding="utf-8") as file:
            options = json.load(file)
    except FileNotFoundError as error:
        raise ConfigurationError(f"there is no file of options {options_file}") from error
    except OSError as error:
        raise ConfigurationError(f"{options_file} cannot be read: {error}") from error
    except ValueError as error:
        raise ConfigurationError(f"{options_file} is not JSON: {error}") from error
    if not isinstance(options, dict):
        raise ConfigurationError(f"{options_file} is not a JSON object, but {options!r:.40}")
    return options


class _Values:
    """
    Takes values out of nested options by their dotted paths, and gathers in `problems` what is
    wrong with them; a wrong value comes out as `None`.
    """

    def __init__(self, options: dict[str, Any]) -> None:
        self._options = options
        self.problems: list[str] = []

    def expect(self, holds: bool, problem: str) -> None:
        # Several values may miss the same section.
        if not holds and problem not in self.problems:
            self.problems.append(problem)

    def get(self, path: str, kind: Any = int, default: Any = None, least: float = 1) -> Any:
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
            self.expect(False, f"{path} cannot be {value!r}")
            return None
        return value

    def filters(self, path: str) -> tuple[tuple[int, int], ...]:
        section, key = self._section(path)
        filters = (section or {}).get(key)
        if not isinstance(filters, list) or not filters:
            missing = f"{path} is missing; this reads biLMs over characters only"
            self.expect(section is None, missing)
            return ()
        for pair in filters:
            if not _is_pair(pair):
                self.expect(False, f"{path} must be pairs of a width and a number, not {pair!r}")
                return ()
        return tuple((width, number) for width, number in filters)

    def _section(self, path: str) -> tuple[dict[str, Any] | None, str]:
        *parents, key = path.split(".")
        section: Any = self._options
        for number, parent in enumerate(parents, start=1):
            section = section.get(parent)
            if not isinstance(section, dict):
                where = ".".join(parents[:number])
                self.expect(False, f"{where} is missing, or is not an object")
                return None, key
        return section, key


def _is_pair(value: Any) -> bool:
    is_pair = isinstance(value, (list, tuple)) and len(value) == 2
    return is_pair and all(type(number) is int and number > 0 for number in value)


def exported(raw: dict[str, Any], options: BiLmOptions, state: str) -> dict[str, Any]:
    """The content of an `options.json` with the keys that upstream reads without a default."""
    lstm = {"cell_clip": None, "proj_clip": None, **raw["lstm"]}
    char_cnn = {
        **raw["char_cnn"],
        "n_highway": options.num_highway,
        "n_characters": 262,
        "max_characters_per_token": options.max_characters,
    }
    return {**raw, "lstm": lstm, "char_cnn": char_cnn, "state": state}
