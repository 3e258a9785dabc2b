from pathlib import Path

import pytest

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.embed.corpus import Corpus

RAW = 'She waited a minute.\nHe said, "Come back, now!"\n'
TOKENS = 'She waited a minute .\nHe said , " Mr. Lee , come back etc. , now ! "\nno end\n1,5\n'


def warnings(path: Path, text: str, caplog: pytest.LogCaptureFixture) -> list[str]:
    path.write_text(text, encoding="utf-8")
    corpus = Corpus([path], split=None)
    caplog.clear()
    # A corpus is read several times.
    for _ in range(2):
        list(corpus.texts())
    return [record.getMessage() for record in caplog.records]


@pytest.mark.parametrize("text", [RAW, RAW * 600 + "no more\n", RAW + "a\n" * 2000])
def test_text_that_looks_raw_has_one_hint(
    text: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    said = warnings(tmp_path / "a.txt", text, caplog)

    hint = "'minute.' is one token; --split cuts sentences and tokens"
    assert said == [f"the text looks raw: {hint}"]


@pytest.mark.parametrize("text", [TOKENS, "a b c\n", "", TOKENS + "a.\n"])
def test_tokens_have_no_hint(text: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert warnings(tmp_path / "a.txt", text, caplog) == []


def test_raw_text_that_is_split_has_no_hint(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "a.txt").write_text(RAW)

    list(Corpus([tmp_path / "a.txt"], split=lambda line: [line]).texts())

    assert not caplog.records


@pytest.mark.parametrize("name", ["a.conll", "a.conllu", "a.conll.gz"])
def test_a_file_in_columns_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("Eve B-PER\n")

    with pytest.raises(
        ConfigurationError, match=f"{name} is in columns: write each sentence on a line"
    ):
        list(Corpus([tmp_path / name]))
