import json
import random

from scripts.everyday_data import GREETINGS, negate, recase, rename, shorten

SENTENCE = "Ada\tNNP\tO\nleft\tVBD\tO\n\n"


def test_a_tenth_of_the_sentences_is_in_capitals_or_lower_case_and_tags_stay() -> None:
    text = "#begin document (a); part 000\n" + 1000 * SENTENCE

    changed = recase(text, random.Random(1), word=0)

    head, *sentences = changed.split("\n", 1)[1].split("\n\n")
    upper, lower = (
        sentences.count(each[:-2])
        for each in (
            SENTENCE.replace("Ada\t", "ADA\t").replace("left", "LEFT"),
            SENTENCE.replace("Ada", "ada"),
        )
    )
    assert changed.startswith("#begin document (a); part 000\n") and head == SENTENCE[:-2]
    assert 30 < upper < 70 and 30 < lower < 70
    assert sentences.count(SENTENCE[:-2]) + upper + lower == 999


def test_the_negation_of_a_contradiction_is_entailed() -> None:
    rows = [
        {"sentence1": f"{label} 1", "sentence2": "A man is awake.", "gold_label": label}
        for label in ("contradiction", "entailment", "neutral")
    ]

    changed = negate("".join(f"{json.dumps(row)}\n" for row in rows), random.Random(1))

    pairs = {tuple(json.loads(line).values()) for line in changed.splitlines()}
    assert {tuple(row.values()) for row in rows} <= pairs
    assert {
        ("contradiction 1", "A man is not awake.", "entailment"),
        ("entailment 1", "A man is not awake.", "contradiction"),
        ("neutral 1", "A man is not awake.", "neutral"),
        ("A man is awake.", "A man is sleeping.", "contradiction"),
        ("A man is awake.", "A man is not sleeping.", "entailment"),
    } <= pairs


def rows(*sentences: str) -> str:
    """Returns sentences of CoNLL-2003, written as "word/tag word/tag"."""
    blocks = (
        "".join("{} NN I-NP {}\n".format(*word.split("/")) for word in sentence.split())
        for sentence in sentences
    )
    return "".join(f"{block}\n" for block in blocks)


def words_and_tags(text: str) -> list[list[tuple[str, str]]]:
    blocks = text.strip().split("\n\n")
    columns = [[line.split(" ") for line in block.split("\n")] for block in blocks]
    return [[(row[0], row[3]) for row in rows] for rows in columns]


def test_a_greeting_is_no_part_of_the_name() -> None:
    text = "-DOCSTART- -X- O O\n\n" + rows(*400 * ["Ada/I-PER Berg/I-PER left/O"])

    changed = words_and_tags(rename(text, random.Random(1)))

    assert len(changed) == 401 and changed[0] == [("-DOCSTART-", "O")]
    greeted = [sentence for sentence in changed[1:] if len(sentence) > 3]
    assert 5 < len(greeted) < 40
    for greeting, name, _, *rest in greeted:
        assert greeting[0] in GREETINGS and greeting[1] == "O" and name == ("Ada", "I-PER")
        assert rest == [("Ada", "I-PER"), ("Berg", "I-PER"), ("left", "O")]


def test_an_acronym_is_the_organization() -> None:
    sentence = "The/O Bank/I-ORG of/I-ORG North/I-ORG Lindvik/I-ORG Ada/I-PER"

    changed = words_and_tags(rename(rows(*90 * [sentence]), random.Random(1)))

    short = [each[-3:] == [("The", "O"), ("BNL", "I-ORG"), ("Ada", "I-PER")] for each in changed]
    assert 10 < sum(short) < 60


def test_entities_side_by_side_are_two() -> None:
    sentence = "Bank/I-ORG of/I-ORG North/I-ORG Union/B-ORG of/I-ORG South/I-ORG Lindvik/I-ORG"

    changed = {
        tuple(each[-7:])
        for each in words_and_tags(rename(rows(*90 * [sentence]), random.Random(1)))
    }

    assert any(("USL", "B-ORG") in each and ("North", "I-ORG") in each for each in changed)


def test_a_place_is_called_as_a_team_only_behind_in_and_the_like() -> None:
    sentences = ["Lindvik/I-ORG won/O", "Lindvik/I-LOC is/O"]
    sentences += 300 * ["Oslo/I-LOC is/O in/O Norway/I-LOC"]

    changed = words_and_tags(rename(rows(*sentences), random.Random(1)))[2:]

    places = [[word for word, tag in each if tag == "I-LOC"] for each in changed]
    assert all(first == "Oslo" for first, _ in places)
    assert {last for _, last in places} == {"Norway", "Lindvik"}


def test_pieces_of_one_to_five_sentences_follow_a_document() -> None:
    head, end = "#begin document (a); part 000\n", "#end document\n"
    sentences = [f"Ada NNP (1)\nsleeps{number} VBZ -\nshe PRP (1)\n" for number in range(20)]
    alone = "Bo NNP (2)\n"
    text = head + "\n".join([*sentences, alone]) + "\n" + end

    whole, *pieces = (
        f"{each}{end}" for each in shorten(text, random.Random(1), share=1).split(end)[:-1]
    )

    assert whole == text and len(pieces) >= 4
    read = [line for piece in pieces for line in piece.split("\n") if line.startswith("sleeps")]
    assert read == [f"sleeps{number} VBZ -" for number in range(20)]
    for piece in pieces:
        body = piece.removeprefix(head).removesuffix("\n" + end)
        assert 1 <= body.count("sleeps") <= 5 and piece.startswith(head)


def test_a_piece_mentions_something_twice() -> None:
    head, end = "#begin document (a); part 000\n", "#end document\n"
    text = head + "Ada NNP (1)\nis VBZ -\n\n" + "\nit PRP -\n" * 40 + "\nshe PRP (1)\n\n" + end

    assert shorten(text, random.Random(1), share=1) == text
