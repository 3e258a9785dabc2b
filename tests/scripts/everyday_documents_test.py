import random
from pathlib import Path

from elmo_tasks.common.columns import CONLL_2012
from elmo_tasks.readers.coref import read_coref
from scripts.everyday_documents import MAX_SENTENCES, join


def document(*sentences: str) -> str:
    """Writes words as "word/tag/brackets"; a sentence is such words with blanks."""
    text = "#begin document (a); part 000\n"
    for sentence in sentences:
        for index, each in enumerate(sentence.split()):
            word, tag, brackets = each.split("/")
            text += f"a\t0\t{index}\t{word}\t{tag}\t*\t-\t-\t-\t-\t*\t{brackets}\n"
        text += "\n"
    return text + "#end document\n"


def joined(text: str, folder: Path) -> list[tuple[str, list[list[str]]]]:
    """Returns the words of each document, and the words of the mentions of its clusters."""
    (folder / "joined.conll").write_text(join(text, random.Random(1)))
    found = []
    for each in read_coref(folder / "joined.conll", CONLL_2012):
        words = [word for sentence in each.sentences for word in sentence]
        clusters = [[" ".join(words[a:b]) for a, b in cluster] for cluster in each.clusters]
        found.append((" ".join(words), clusters))
    return found


def test_two_people_do_what_one_did(tmp_path: Path) -> None:
    text = document(
        "Ada/NNP/(0) was/VBD/- late/JJ/- ,/,/- so/RB/- she/PRP/(0) took/VBD/- her/PRP$/(1|(0)"
        " car/NN/1)"
    )

    before, after = joined(text, tmp_path)

    assert before[0] == "Ada was late , so she took her car"
    assert after[0] == "Ada and Ada were late , so they took their car"
    assert after[1][0] == ["Ada and Ada", "they", "their"] and after[1][1] == ["their car"]


def test_i_come_last(tmp_path: Path) -> None:
    texts = [
        document("I/PRP/(0) am/VBP/- tired/JJ/-", "I/PRP/(0) sleep/VBP/- now/RB/-"),
        document("Bo/NNP/(0) has/VBZ/- time/NN/-", "He/PRP/(0) sleeps/VBZ/-"),
    ]

    _, me, _, him = joined("".join(texts), tmp_path)

    assert me == ("Bo and I are tired We sleep now", [["Bo and I", "We"]])
    assert him == ("Bo and Bo have time They sleep", [["Bo and Bo", "They"]])


def test_nouns_are_joined_with_nouns(tmp_path: Path) -> None:
    text = document("The/DT/(3 cook/NN/3) hurt/VBD/- himself/PRP/(3) ././-")

    _, after = joined(text, tmp_path)

    assert after == (
        "The cook and the cook hurt themselves .",
        [["The cook and the cook", "themselves"]],
    )


def test_who_is_named_again_or_in_a_long_document_stays(tmp_path: Path) -> None:
    again = document("Ada/NNP/(0) saw/VBD/- Ada/NNP/(0)")
    within = document("Ada/NNP/(0)|(1) likes/VBZ/- her/PRP/(0) and/CC/- her/PRP$/(1)")
    thing = document("It/PRP/(0) saw/VBD/- it/PRP/(0)")
    long = document(*["Ada/NNP/(0) washed/VBD/- herself/PRP/(0)"] * (MAX_SENTENCES + 1))

    assert len(joined(again + within + thing + long, tmp_path)) == 4
