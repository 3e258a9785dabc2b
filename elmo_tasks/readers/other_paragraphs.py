import random
from collections.abc import Iterable
from functools import cache

from elmo_tasks.readers.passage import Question
from elmo_tasks.readers.tf_idf import TfIdf, nearest

# Other paragraphs are drawn from this many that are most like the question.
_MOST = 4


class OtherParagraphs:
    """
    Draws paragraphs that look as if they answered a question, but do not. The candidates are the
    other paragraphs of the question's article, without those that have the text of an answer. From
    the four candidates (or `number`, if that is more) that are most like the question by TF-IDF,
    Python's `random` draws, anew each time the questions are read.

    # Parameters

    questions: All questions of a file.
    number: The most paragraphs that are drawn for a question.
    """

    def __init__(self, questions: Iterable[Question], number: int) -> None:
        self._number = number
        self._articles: dict[str, dict[str, None]] = {}
        for question in questions:
            # Who has no article has no other paragraphs.
            if question.article and question.passage.strip():
                self._articles.setdefault(question.article, {})[question.passage] = None
        self._tf_idf = cache(lambda article: TfIdf(self._articles[article]))

    def draw(self, question: Question) -> list[str]:
        """Returns up to `number` other paragraphs, in a random order."""
        paragraphs = list(self._articles.get(question.article, ()))
        texts = [answer.text for answer in question.answers if answer.text]
        wrong = {
            index
            for index, paragraph in enumerate(paragraphs)
            if paragraph != question.passage and not any(text in paragraph for text in texts)
        }
        if not wrong:
            return []
        likeness = self._tf_idf(question.article).likeness(question.question)
        most = max(_MOST, self._number)
        candidates = [index for index in nearest(likeness) if index in wrong][:most]
        sample = random.sample(candidates, min(self._number, len(candidates)))
        return [paragraphs[index] for index in sample]
