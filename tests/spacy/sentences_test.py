import spacy
from spacy.tokens import Doc

from elmo_tasks.spacy.sentences import DocSentence, of_docs

VOCAB = spacy.blank("en").vocab


def test_sentences_have_the_words_and_their_indices_in_the_doc() -> None:
    words = ["It", " ", "works", ".", "\n", "\n", "So"]
    starts = [True, False, False, False, True, True, False]
    first = Doc(VOCAB, words, sent_starts=starts)
    blank, without = Doc(VOCAB, ["\n"]), Doc(VOCAB, ["A", "text", ".", "Another"])

    sentences = list(of_docs([first, blank, without]))

    assert sentences == [
        DocSentence(0, [0, 2, 3], ["It", "works", "."]),
        DocSentence(0, [6], ["So"]),
        DocSentence(2, [0, 1, 2, 3], ["A", "text", ".", "Another"]),
    ]
