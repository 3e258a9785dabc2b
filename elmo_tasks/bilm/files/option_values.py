from typing import Any

from elmo_tasks.common.spelling import did_you_mean

# The bounds of the options. The released biLMs are far below them: two layers of 4096, 2048 filters
# and 94 million parameters. Without the bounds, a damaged file could ask for all memory.
MAX_LAYERS = 100
MAX_WIDTH = 100_000
MAX_PARAMETERS = 10**9
MAX_WORDS = 10**7

# The names that are read, by section. Other names are allowed, such as bilm-tf's training settings,
# unless they look like a misspelling of one that is read.
_NAMES = {
    "": ("char_cnn", "lstm", "state", "n_tokens_vocab"),
    "char_cnn": (
        "filters activation embedding max_characters_per_token n_highway n_characters"
    ).split(),
    "char_cnn.embedding": ("dim",),
    "lstm": "n_layers dim projection_dim cell_clip proj_clip use_skip_connections".split(),
}


class OptionValues:
    """
    Looks up values in nested options by dotted paths, and collects the problems with them in
    `problems`. A wrong value is returned as `None`.
    """

    def __init__(self, options: dict[str, Any]) -> None:
        self._options = options
        self.problems: list[str] = []

    def has(self, section: str) -> bool:
        return self._options.get(section) is not None

    def expect(self, holds: bool, problem: str) -> None:
        # If a section is missing, each of its values has the same problem.
        if not holds and problem not in self.problems:
            self.problems.append(problem)

    def expect_no_misspelt(self) -> None:
        for place, known in _NAMES.items():
            if place.startswith("char_cnn") and not self.has("char_cnn"):
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
