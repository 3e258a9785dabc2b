from pathlib import Path
from typing import Any

import pytest
from allennlp.data import Vocabulary

from elmo_tasks.readers.plain_tags_field import UNKNOWN_TAG
from elmo_tasks.readers.tag import TagReader

FIXTURE = Path(__file__).parents[2] / "fixtures" / "tag.conllu"


def test_tags_are_read_as_they_are() -> None:
    instances = list(TagReader(column="xpos").read(FIXTURE))

    assert instances[0]["tags"].labels == "DT NN VBD IN NN .".split()
    assert instances[0]["metadata"].metadata == {"tokens": "The ferry left at noon .".split()}


def test_a_tag_that_the_training_lacks_has_an_index_that_no_model_predicts() -> None:
    instances = list(TagReader().read(FIXTURE))
    vocab = Vocabulary.from_instances(instances[:1])

    instances[1].index_fields(vocab)

    known = vocab.get_token_to_index_vocabulary("labels")
    tags = instances[1]["tags"].as_tensor(instances[1]["tags"].get_padding_lengths()).tolist()
    expected = "PRON VERB ADP DET NOUN PUNCT".split()
    assert tags == [known.get(tag, UNKNOWN_TAG) for tag in expected] and tags[0] == UNKNOWN_TAG


def test_spans_are_learnt_in_BIOUL_whatever_the_file_has() -> None:
    instances = list(TagReader(column="misc", spans=True).read(FIXTURE))

    assert instances[4]["tags"].labels == ["U-NAME", "O", "O", "O", "O", "O"]


def test_a_tag_that_is_none_of_spans_is_named_with_its_line() -> None:
    with pytest.raises(ValueError, match="tag.conllu:3: 'DET' is not a tag of IOB1 or BIO"):
        list(TagReader(column="upos", spans=True).read(FIXTURE))


def test_a_file_without_sentences_is_refused(tmp_path: Path) -> None:
    (tmp_path / "in.conllu").write_text("# nothing\n")

    with pytest.raises(ValueError, match="in.conllu has no sentence"):
        list(TagReader().read(tmp_path / "in.conllu"))


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"tokens": ["Rain"], "tags": ["N"]}, {"tokens": ["Rain"]}),
        ({"text": "Rain", "spans": []}, {"sentence": "Rain"}),
        ({"sentence": "Rain"}, {"sentence": "Rain"}),
        ({"words": "Rain"}, {"words": "Rain"}),
    ],
)
def test_a_row_of_the_training_is_an_input_without_its_tags(row: Any, expected: Any) -> None:
    assert TagReader().asked(row) == expected
