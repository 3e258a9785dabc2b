import random
from pathlib import Path

from elmo_tasks.common.columns import CONLL_2012
from elmo_tasks.readers.coref import read_coref
from scripts import everyday_stories
from scripts.everyday_stories import Story, document, read_scenarios, read_words, tell

WORDS = {
    "thing": ["apron"],
    "woman": ["Ada"],
    "man": ["Bo"],
    "surname": ["Ost"],
    "role": ["cook"],
    "kin_woman": ["mum"],
    "kin_man": ["dad"],
}


def told(*lines: str, forms: dict[str, list[str]] | None = None) -> tuple[str, list[list[str]]]:
    """Returns the text of a document and the mentions of its clusters."""
    story = Story(WORDS, forms or {}, random.Random(1))
    for line in lines:
        story.add(line)
    clusters = [
        [story.text[start:end] for start, end in sorted(spans)]
        for spans in story.mentions.values()
        if len(spans) > 1
    ]
    return story.text.strip(), clusters


def test_pronouns_have_the_gender_of_a_first_mention() -> None:
    text, clusters = told("{p=<woman>} lost {t=his.p <thing>}. It.t was new. He.p hurt himself.p.")

    assert text == "Ada lost her apron. It was new. She hurt herself."
    assert clusters == [["Ada", "her", "She", "herself"], ["her apron", "It"]]


def test_another_person_has_the_other_gender_and_a_later_mention_is_definite() -> None:
    forms = {"p": ["person"], "q": ["other person"], "t": ["a <thing>"]}

    text, clusters = told("{p} gave {q} {t}.", "{t.the} fits him.q.", forms=forms)

    assert "gave" in text and " an apron." in text and "The apron fits " in text
    giver, receiver = text.split(" gave ")[0], text.split("fits ")[1].rstrip(".")
    assert receiver in ("him", "her") and giver
    assert clusters[1] == ["an apron", "The apron"]


def test_two_persons_are_a_mention_with_another_one_in_it() -> None:
    forms = {"h": ["two persons"]}

    text, clusters = told("{h} left. They.h were late.", forms=forms)

    assert clusters[-1][-1] == "They" and " and " in clusters[-1][0]
    assert text.endswith(" left. They were late.")


def test_a_line_that_mentions_what_nobody_has_named_is_not_drawn() -> None:
    story = Story(WORDS, {}, random.Random(1))

    assert not story.knows("It.t was new.") and not story.knows("{t.the} was new.")
    assert story.knows("I.i saw {t}, and it.t was new.")


def test_every_pattern_becomes_a_document_that_the_reader_reads(tmp_path: Path) -> None:
    words, chance = read_words(), random.Random(1)
    scenarios = read_scenarios(everyday_stories.PATTERNS.read_text(encoding="utf-8"))
    lines = [line for scenario in scenarios for line in (*scenario.first, *scenario.whole)]
    assert len(lines) > 200

    stories = []
    for scenario in scenarios:
        for _ in range(100):
            stories.append(tell(scenario, words, chance))
        for line in scenario.whole:
            stories.append(Story(words, scenario.forms, chance))
            stories[-1].add(line)
    documents = [line for story in stories for line in document(story, "everyday/1")]
    (tmp_path / "a.conll").write_text("\n".join(documents) + "\n")

    read = list(read_coref(tmp_path / "a.conll", CONLL_2012))
    for story, found in zip(stories, read, strict=True):
        assert not set("{}<>=") & set(story.text)
        tokens = [word for sentence in found.sentences for word in sentence]
        assert "".join(tokens) == "".join(story.text.split())
        expected = [
            sorted("".join(story.text[start:end].split()) for start, end in spans)
            for spans in story.mentions.values()
            if len(spans) > 1
        ]
        clusters = [
            sorted("".join(tokens[start:end]) for start, end in cluster)
            for cluster in found.clusters
        ]
        assert sorted(clusters) == sorted(expected)
