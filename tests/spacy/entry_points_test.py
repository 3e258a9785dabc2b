import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# Makes a pipeline without an import of elmo_tasks.
SCRIPT = """
import sys
import spacy

nlp = spacy.blank("en")
# This much is imported for every pipeline, also for one without ELMo.
print(*sorted(name for name in sys.modules if name.startswith("elmo_tasks")))
tok2vec = {"@architectures": "elmo_tasks.Tok2Vec.v1", "width": 8}
nlp.add_pipe("tagger", config={"model": {"@architectures": "spacy.Tagger.v2", "tok2vec": tok2vec}})
nlp.add_pipe("elmo")
nlp.add_pipe("elmo_ner", config={"model": "ner"})
nlp.add_pipe("elmo_sentiment", config={"model": "sst"})
nlp.add_pipe("elmo_srl", config={"model": "srl"})
nlp.add_pipe("elmo_coref", config={"model": "coref"})
nlp.add_pipe("elmo_textcat", config={"model": "mine"})
nlp.add_pipe("elmo_tagger", config={"model": "mine"})
print(*nlp.pipe_names, "allennlp" in sys.modules)
"""


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """Returns a folder in which Python finds the entry points of setup.py."""
    calls = ast.walk(ast.parse((ROOT / "setup.py").read_text(encoding="utf-8")))
    keywords = [node for node in calls if isinstance(node, ast.keyword)]
    (points,) = (word.value for word in keywords if word.arg == "entry_points")
    info = tmp_path / "elmo_tasks-0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: elmo-tasks\nVersion: 0\n")
    lines = [
        line
        for group, entries in ast.literal_eval(points).items()
        for line in (f"[{group}]", *entries)
    ]
    (info / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")
    return tmp_path


def test_spacy_finds_the_components_of_the_installed_package(installed: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env={"PYTHONPATH": f"{installed}:{ROOT}"},
        capture_output=True,
        text=True,
    )

    assert result.stdout.splitlines() == [
        "elmo_tasks elmo_tasks.spacy elmo_tasks.spacy.factories",
        "tagger elmo elmo_ner elmo_sentiment elmo_srl elmo_coref elmo_textcat elmo_tagger False",
    ], result.stderr
