from pathlib import Path

import pytest
import torch
from allennlp.modules.elmo import batch_to_ids
from hypothesis import given
from hypothesis import strategies as st

from elmo_tasks.analysis.probe.tagged_tokens import ColumnReader, GoldSentence, embed
from elmo_tasks.bilm import make_bilm
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.elmo.sentence_layers import SentenceLayers
from tests.helpers.reference_bilm import FIXTURE_FILES

SENSES = ColumnReader(["word", "lemma", "sense"], "sense", "lemma", "-", tag_separator="|")


def written(folder: Path, text: str) -> Path:
    path = folder / "text.txt"
    path.write_bytes(text.encode())
    return path


tokens = st.tuples(
    st.text("abé", min_size=1, max_size=3),
    st.text("ab", min_size=1, max_size=2),
    st.lists(st.sampled_from(["x%1", "y%2"]), max_size=2, unique=True),
)


@given(sentences=st.lists(st.lists(tokens, min_size=1, max_size=4), min_size=1, max_size=4))
def test_what_was_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, sentences: list[list[tuple[str, str, list[str]]]]
) -> None:
    sentences += [[("end", "end", ["x%1"])]]
    text = "\n\n".join(
        "\n".join(f"{word} {lemma}\t{'|'.join(tags) or '-'}" for word, lemma, tags in sentence)
        for sentence in sentences
    )

    found = list(SENSES.read(written(tmp_path_factory.mktemp("columns"), text)))

    assert found == [
        GoldSentence(
            [word for word, _, _ in sentence],
            [lemma for _, lemma, _ in sentence],
            [tuple(tags) for _, _, tags in sentence],
        )
        for sentence in sentences
    ]


def test_without_further_columns_a_word_is_its_lemma_and_all_are_tags(tmp_path: Path) -> None:
    path = written(tmp_path, "- a|b x\nA\u00a0b - x\n")

    (found,) = ColumnReader(["word", "pos", "other"], "pos").read(path)

    words = ["-", "A\u00a0b"]
    assert found == GoldSentence(words, words, [("a|b",), ("-",)])


REFUSED = [
    (["word", "pos"], {"tag_column": "ner"}, "'ner' exactly once"),
    (["token", "pos"], {"tag_column": "pos"}, "'word' exactly once"),
    (["word", "pos"], {"tag_column": "pos", "lemma_column": "lemma"}, "'lemma' exactly once"),
]


@pytest.mark.parametrize(("columns", "others", "message"), REFUSED)
def test_columns_that_cannot_be_read_are_refused(
    columns: list[str], others: dict[str, str], message: str
) -> None:
    with pytest.raises(ConfigurationError, match=message):
        ColumnReader(columns, **others)


@pytest.mark.parametrize("text", ["", "\n\n", "The the -\n"])
def test_a_file_without_tags_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(ValueError, match=r"text\.txt has no token with a tag"):
        list(SENSES.read(written(tmp_path, text)))


def test_tokens_with_tags_have_their_layers_in_the_context_of_all() -> None:
    bilm = make_bilm(*FIXTURE_FILES).eval()
    sentences = [
        GoldSentence(["A", "bank"], ["a", "bank"], [(), ("river",)]),
        GoldSentence(["None", "here"], ["none", "here"], [(), ()]),
        GoldSentence(["She", "plays", "it"], ["she", "play", "it"], [("x", "y"), ("game",), ()]),
    ]

    found = embed(SentenceLayers(bilm), sentences)

    assert (found.keys, found.tags) == (
        ["bank", "she", "play"],
        [("river",), ("x", "y"), ("game",)],
    )
    first, last = (bilm(batch_to_ids([sentences[k].words])).layers[0] for k in (0, 2))
    expected = torch.stack([first[:, 1], last[:, 0], last[:, 1]])
    assert found.layers.dtype == torch.float16
    torch.testing.assert_close(found.layers.float(), expected, rtol=2**-10, atol=1e-4)
