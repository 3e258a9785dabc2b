from collections.abc import Iterator, Sequence

from allennlp.data.tokenizers import Token
from spacy.tokens import Doc

from elmo_tasks.readers.sentence_splitter import split_sentences
from elmo_tasks.readers.spacy_pipeline import blank_pipeline


class TextSentences:
    """
    Cuts a text, by spaCy's rules for a language, into the sentences that a biLM reads one by one.

    # Parameters

    language (default `'en'`): spaCy's code of the language. Raises `ConfigurationError` if spaCy
        has no rules for it.
    max_sentence_tokens (default `100`): Longer sentences are cut into pieces of this many tokens.
    max_tokens: Only this many tokens of a text are read. By default all are.
    """

    def __init__(
        self, language: str = "en", max_sentence_tokens: int = 100, max_tokens: int | None = None
    ) -> None:
        self.language = language
        self.max_sentence_tokens = max_sentence_tokens
        self.max_tokens = max_tokens
        blank_pipeline(language)

    def of_text(self, text: str) -> list[list[Token]]:
        """Returns the tokens of each sentence of raw text."""
        return self._cut(
            [Token(token.text) for token in sentence if not token.is_space]
            for sentence in split_sentences(text, self.language)
        )

    def of_words(self, words: Sequence[str]) -> list[list[Token]]:
        """Returns the tokens of each sentence of a text that is already cut into words."""
        pipeline = blank_pipeline(self.language, with_sentences=True)
        doc = pipeline(Doc(pipeline.vocab, words=list(words)))
        return self._cut([Token(token.text) for token in sentence] for sentence in doc.sents)

    def _cut(self, sentences: Iterator[list[Token]]) -> list[list[Token]]:
        pieces: list[list[Token]] = []
        left = self.max_tokens
        for sentence in sentences:
            sentence = sentence[:left]
            for start in range(0, len(sentence), self.max_sentence_tokens):
                pieces.append(sentence[start : start + self.max_sentence_tokens])
            if left is not None:
                left -= len(sentence)
                if left == 0:
                    break
        return pieces
