"""
Adds documents to a file in the columns of CoNLL-2012 in which two people do what one does in a
document of the file: "Ada was late, so she ran" becomes "Ada and Bo were late, so they ran". The
model `coref` of the package was in the end trained on such documents, since the data of OntoNotes'
kind hardly have them.

    python -m scripts.everyday_documents my/short.conll my/joined.conll
"""

import random
import re
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from scripts.changed_file import make_parser, write_changed

# Documents of more sentences stay as they are.
MAX_SENTENCES = 5
PLURAL = {
    "he": "they", "she": "they", "him": "them", "his": "their", "himself": "themselves",
    "herself": "themselves", "i": "we", "me": "us", "my": "our", "myself": "ourselves",
}  # fmt: skip
VERBS = {"is": "are", "'s": "are", "was": "were", "has": "have", "does": "do", "am": "are"}
VERBS |= {"'m": "are"}
WORD, POS, COREFERENCE = 3, 4, -1

# The columns of each token of a sentence.
Rows = list[list[str]]


class Mention(NamedTuple):
    """The words `first` to `last` of a sentence."""

    sentence: int
    first: int
    last: int


def join(text: str, chance: random.Random) -> str:
    """Adds a document after each document of a few sentences that one person is mentioned in."""
    documents = re.findall(r"#begin document.*?\n#end document", text, re.DOTALL)
    sentences_of_documents = [[*map(_rows_of, _blocks(document))] for document in documents]
    people: dict[str, list[Rows]] = defaultdict(list)
    clusters = []
    for sentences in sentences_of_documents:
        cluster = None if len(sentences) > MAX_SENTENCES else next(_one_person(sentences), None)
        clusters.append(cluster)
        if cluster:
            rows = _rows(sentences, cluster[0])
            people[_kind(rows)].append(rows)
    new_documents: list[str] = []
    for document, sentences, cluster in zip(documents, sentences_of_documents, clusters):
        new_documents.append(document)
        if cluster is None:
            continue
        kind = _kind(_rows(sentences, cluster[0]))
        other_person = chance.choice(people["name"] if kind == "I" else people[kind])
        _change(sentences, cluster, other_person)
        lines = "\n\n".join("\n".join(map("\t".join, rows)) for rows in sentences)
        new_documents.append(f"{document.splitlines()[0]}\n{lines}\n\n#end document")
    return "".join(f"{document}\n" for document in new_documents)


def _blocks(document: str) -> list[str]:
    return "\n".join(document.split("\n")[1:-1]).strip().split("\n\n")


def _rows_of(block: str) -> Rows:
    return [line.split() for line in block.split("\n")]


def _mentions(sentences: list[Rows]) -> dict[str, list[Mention]]:
    """Returns the mentions of each cluster, in the order of their first words."""
    mentions: dict[str, list[Mention]] = defaultdict(list)
    for number, rows in enumerate(sentences):
        starts: dict[str, list[int]] = defaultdict(list)
        for index, row in enumerate(rows):
            for bracket in row[COREFERENCE].split("|"):
                cluster = bracket.strip("()")
                if bracket.startswith("("):
                    starts[cluster].append(index)
                if bracket.endswith(")"):
                    mentions[cluster].append(Mention(number, starts[cluster].pop(), index))
    return {cluster: sorted(spans) for cluster, spans in mentions.items()}


def _one_person(sentences: list[Rows]) -> Iterator[list[Mention]]:
    """Yields clusters of a person, by name or with a noun, whom later only pronouns mention."""
    for first, *later in _mentions(sentences).values():
        rows = _rows(sentences, first)
        pronouns = [row[WORD].lower() for mention in later for row in _rows(sentences, mention)]
        # A longer mention has a word that is no pronoun, or two pronouns.
        if (
            later
            and _kind(rows)
            and len(pronouns) == len(later)
            and all(word in PLURAL or word == "her" for word in pronouns)
            and all("|" not in row[COREFERENCE] for row in rows)
        ):
            yield [first, *later]


def _rows(sentences: list[Rows], mention: Mention) -> Rows:
    return sentences[mention.sentence][mention.first : mention.last + 1]


def _kind(rows: Rows) -> str:
    tags = " ".join(row[POS] for row in rows)
    if rows[0][WORD] == "I" and len(rows) == 1:
        return "I"
    return {"NNP": "name", "NNP NNP": "name", "DT NN": "noun", "PRP$ NN": "noun"}.get(tags, "")


def _change(sentences: list[Rows], cluster: list[Mention], other: Rows) -> None:
    """Joins the first mention with `other`, and puts the later ones in the plural."""
    first, *later = cluster
    for mention in later:
        row = sentences[mention.sentence][mention.first]
        begins = mention.first == 0 if row[WORD] == "I" else row[WORD][0].isupper()
        row[WORD] = _plural(row).capitalize() if begins else _plural(row)
    for mention in cluster:
        following = sentences[mention.sentence][mention.last + 1 : mention.last + 2]
        for row in following:
            row[WORD] = _plural_verb(row)
    rows, first_rows = sentences[first.sentence], _rows(sentences, first)
    number = re.findall(r"[^()|]+", first_rows[0][COREFERENCE])[0]
    comes_first = _kind(first_rows) == "I"
    words = [[row[WORD], row[POS]] for row in first_rows]
    added = [[row[WORD], row[POS]] for row in other]
    before, after = (added, words) if comes_first else (words, added)
    if _kind(other) == "noun":
        after[0][0] = after[0][0].lower()
    tokens = [*before, ["and", "CC"], *after]
    new_rows = [
        [*first_rows[0][:WORD], *token, *first_rows[0][POS + 1 : -1], "-"] for token in tokens
    ]
    new_rows[0][COREFERENCE], new_rows[-1][COREFERENCE] = f"({number}", f"{number})"
    rows[first.first : first.last + 1] = new_rows
    for index, row in enumerate(rows):
        row[WORD - 1] = str(index)


def _plural(row: list[str]) -> str:
    word = row[WORD].lower()
    if word == "her":
        return "their" if row[POS] == "PRP$" else "them"
    return PLURAL[word]


def _plural_verb(row: list[str]) -> str:
    word = row[WORD]
    if word in VERBS and row[POS].startswith("VB"):
        return VERBS[word]
    return word[:-1] if row[POS] == "VBZ" and re.search("[^s]s$", word) else word


def main() -> None:
    write_changed(make_parser(__doc__).parse_args(), join)


if __name__ == "__main__":
    main()
