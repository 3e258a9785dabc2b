"""What the tests of readers have in common."""

from pathlib import Path

from allennlp.data import Instance


def write_file(path: Path, content: str | bytes) -> Path:
    """Writes a file, and returns its path."""
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def words(instance: Instance, name: str = "tokens") -> list[str]:
    return [token.text for token in instance[name].tokens]  # type: ignore[attr-defined]
