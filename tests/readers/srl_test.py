from pathlib import Path

import pytest
from allennlp.data import Batch, Instance, Token, Vocabulary

from elmo_tasks.readers.entities import Entity
from elmo_tasks.readers.fields import UNKNOWN_LABEL
from elmo_tasks.readers.indexers import CharIdsIndexer
from elmo_tasks.readers.srl import SrlReader
from elmo_tasks.readers.srl_file import Predicate, SrlSentence, read_srl
from tests.helpers.reading import words, write_file

FIXTURE = Path(__file__).parents[2] / "fixtures" / "srl.gold_conll"
CONLL_2005 = ["word", "predicate", "roles"]


def test_sentence_of_conll_2012_has_its_words_predicates_and_line() -> None:
    sentences = list(read_srl(FIXTURE))

    assert len(sentences) == 12
    assert sentences[1] == SrlSentence(
        "The storm broke two windows and frightened the dog .".split(),
        [
            Predicate(2, [Entity("ARG0", 0, 2), Entity("V", 2, 3), Entity("ARG1", 3, 5)]),
            Predicate(6, [Entity("ARG0", 0, 2), Entity("V", 6, 7), Entity("ARG1", 7, 9)]),
        ],
    )
    assert sentences[2].predicates == []
    # A sentence after the beginning of a second document.
    assert sentences[6].predicates == [
        Predicate(
            3,
            [
                Entity("ARG0", 0, 1),
                Entity("ARGM-NEG", 2, 3),
                Entity("V", 3, 4),
                Entity("ARG1", 4, 6),
                Entity("C-V", 6, 7),
            ],
        )
    ]


def test_columns_of_conll_2005_are_read_by_naming_them(tmp_path: Path) -> None:
    text = "#\t-\t(A0*)\nsold\tsell\t(V*)\n\nboats\t-\n\nrain\t-\t*\nfell\tfall\t(V*V)\n"
    reordered = "(A0* - a\n*A0) - -\n(V*) be -\n"

    assert list(read_srl(write_file(tmp_path / "srl.txt", text), CONLL_2005)) == [
        SrlSentence(["#", "sold"], [Predicate(1, [Entity("A0", 0, 1), Entity("V", 1, 2)])]),
        SrlSentence(["boats"], []),
        SrlSentence(["rain", "fell"], [Predicate(1, [Entity("V", 1, 2)])]),
    ]
    # Columns may also stand behind those of the roles.
    assert list(
        read_srl(write_file(tmp_path / "srl.txt", reordered), ["roles", "predicate", "word"])
    ) == [SrlSentence(["a", "-", "-"], [Predicate(2, [Entity("A0", 0, 2), Entity("V", 2, 3)])])]


def test_other_columns_are_refused_with_how_to_name_them(tmp_path: Path) -> None:
    path = write_file(tmp_path / "srl.txt", "a be (V*)\n")
    shifted = write_file(tmp_path / "other.txt", "the line 7 a DT * be 01 - - * (V*) -\n")

    with pytest.raises(ValueError) as few:
        list(SrlReader().read(path))
    with pytest.raises(ValueError, match="other.txt:1: .*; set `columns`"):
        list(SrlReader().read(shifted))

    assert str(few.value).endswith(
        "but got 3: 'a be (V*)'; set `columns` of the dataset_reader to the names of all columns "
        "of the file, such as ['word', 'predicate', 'roles'] for CoNLL-2005"
    )
    write_file(path, "[WORD] be (V*)\n")
    with pytest.raises(ValueError, match="srl.txt:1: a skeleton has .WORD. in place of the words"):
        list(conll_2005().read(path))
    # Behind the first sentence, the columns are known to be right.
    write_file(path, "a be (V*)\n\nb\n")
    with pytest.raises(ValueError, match="srl.txt:3: .*'b'$"):
        list(conll_2005().read(path))


def test_predicates_may_have_no_argument_nor_span_and_a_sentence_no_predicate(
    tmp_path: Path,
) -> None:
    path = write_file(
        tmp_path / "srl.txt", "a be (V*) *\nb be * *\nc - * *\n\nrain - *\nfell - *\n"
    )

    found = [sentence.predicates for sentence in read_srl(path, CONLL_2005)]

    assert found == [[Predicate(0, [Entity("V", 0, 1)]), Predicate(1, [])], []]


def test_predicates_that_their_role_v_does_not_mark_are_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    text = "a be (V*) *\nb be * (V*)\n\na be * (V*\nb be (V*) *)\n\na be *\n"

    list(read_srl(write_file(tmp_path / "srl.txt", text), CONLL_2005))

    (record,) = caplog.records
    assert "srl.txt: 1 predicates are not where their role V is; are the" in record.getMessage()


def test_an_argument_within_another_has_no_tags_and_is_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    text = (
        "She - (ARG0*) (ARG0*)\ntold tell (V*) *\nherself - (ARG2(ARG1*)) *\nto - (ARG1* *\n"
        "wait wait *) (V*)\n\n"
        "What - (ARG1(R-ARG2*)\nboys - *)\nsay say (V*)\n\n"
        "a - (A(B*\nb - (C(D*))B)\nc - (B*))\nis be (V*)\n"
    )
    path = write_file(tmp_path / "srl.txt", text)

    told, wait, say, deep = [
        each for sentence in read_srl(path, CONLL_2005) for each in sentence.predicates
    ]
    instances = list(conll_2005().read(path))

    arg2 = [Entity("ARG0", 0, 1), Entity("V", 1, 2), Entity("ARG2", 2, 3), Entity("ARG1", 3, 5)]
    assert told == Predicate(1, arg2, (Entity("ARG1", 2, 3),))
    assert wait.nested == ()
    assert say == Predicate(2, [Entity("ARG1", 0, 2), Entity("V", 2, 3)], (Entity("R-ARG2", 0, 1),))
    within = (Entity("B", 0, 2), Entity("C", 1, 2), Entity("D", 1, 2), Entity("B", 2, 3))
    assert deep == Predicate(3, [Entity("A", 0, 3), Entity("V", 3, 4)], within)
    assert instances[0]["tags"].labels == "B-ARG0 B-V B-ARG2 B-ARG1 I-ARG1".split()
    assert "6 arguments within other arguments are scored, but not learnt; the first" in caplog.text
    assert "the sentence of line 1" in caplog.text


def test_file_is_a_stream(tmp_path: Path) -> None:
    # The second sentence is wrong, and only whoever reads it is told.
    sentences = read_srl(write_file(tmp_path / "srl.txt", "a be (V*)\n\nb be (V*\n"), CONLL_2005)

    assert next(sentences).predicates == [Predicate(0, [Entity("V", 0, 1)])]
    with pytest.raises(ValueError, match="srl.txt:3"):
        next(sentences)


def contents(instance: Instance) -> tuple[list[str], int, list[str]]:
    return words(instance), instance["predicate"].sequence_index, instance["tags"].labels


def two_columns(folder: Path, *sentences: str) -> Path:
    """Writes sentences of `word/TAG` with the predicate at the tag B-V, in CoNLL-2005's columns."""
    lines = []
    for sentence in sentences:
        for token in sentence.split():
            word, _, role = token.partition("/")
            predicate = "be" if role == "V" else "-"
            lines.append(f"{word} {predicate} {f'({role}*)' if role else '*'}")
        lines.append("")
    return write_file(folder / "srl.txt", "\n".join(lines))


def conll_2005() -> SrlReader:
    return SrlReader(columns=CONLL_2005)


def test_each_predicate_is_an_instance_with_the_tags_of_its_arguments() -> None:
    read = list(SrlReader().read(FIXTURE))
    instances = list(map(contents, read))

    assert len(instances) == 17
    assert read[4]["metadata"].metadata == {
        "tokens": "The baker who lives upstairs sings .".split(),
        "predicate": 5,
        "arguments": [Entity("ARG0", 0, 5), Entity("V", 5, 6)],
    }
    road = "This road , they said , floods .".split()
    assert instances[5:7] == [
        (road, 4, "B-ARG1 I-ARG1 O B-ARG0 B-V O B-C-ARG1 O".split()),
        (road, 6, "B-ARG1 I-ARG1 O O O O B-V O".split()),
    ]


def test_instances_of_a_sentence_share_its_tokens_and_others_do_not() -> None:
    reader = SrlReader(token_indexers={"elmo": CharIdsIndexer()})
    _, first, second, third, *_ = reader.read(FIXTURE)

    assert first["tokens"] is second["tokens"]
    assert second["tokens"] is not third["tokens"]


def test_the_first_instance_of_a_sentence_says_which_tokens_are_predicates(tmp_path: Path) -> None:
    path = write_file(tmp_path / "srl.txt", "a x (V*) *\nc y * (V*)\nb - * *\n\nb x (V*)\n")

    marks = [instance["is_predicate"].labels for instance in conll_2005().read(path)]

    assert marks == [[1, 1, 0], [UNKNOWN_LABEL] * 3, [1]]


def test_an_instance_without_a_predicate_has_tokens_alone() -> None:
    instance = SrlReader().text_to_instance([Token("Rain"), Token("fell")])

    assert list(instance.fields) == ["tokens"]


def test_role_that_the_training_data_has_not_has_no_index(tmp_path: Path) -> None:
    vocab = Vocabulary.from_instances(
        list(conll_2005().read(two_columns(tmp_path, "rain/A0 fell/V")))
    )
    other = two_columns(tmp_path, "rain/A0 fell/V here/AM-NEW", "snow/AM-NEW fell/V")
    batch = Batch(list(conll_2005().read(other)))

    batch.index_instances(vocab)

    tags = batch.as_tensor_dict()["tags"]
    assert (tags == UNKNOWN_LABEL).tolist() == [[False, False, True], [True, False, False]]
    names = vocab.get_index_to_token_vocabulary("labels")
    assert [names[tag] for tag in tags[0, :2].tolist()] == ["B-A0", "B-V"]


def test_instances_for_a_prediction_have_no_labels() -> None:
    tokens = [Token(word) for word in "rain fell".split()]

    instance = SrlReader().text_to_instance(tokens, 1)

    assert set(instance.fields) == {"tokens", "predicate", "metadata"}
    assert instance["predicate"].sequence_index == 1
    assert instance["metadata"].metadata == {"tokens": ["rain", "fell"], "predicate": 1}
    assert SrlReader().text_to_instances(tokens, []) == []
