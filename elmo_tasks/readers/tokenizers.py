import re
from collections.abc import Iterator, Sequence

from allennlp.data.tokenizers import Token, Tokenizer
from spacy.tokens import Doc, Span

from elmo_tasks.readers.spacy_pipeline import blank_pipeline, pipeline_for, split_sentences

# A mark that becomes a token of its own: `` or '', a hyphen, dash, slash, tilde, quote, currency or
# degree sign, or a single underscore.
_MARK = re.compile(
    r"(``|''|[-\u2010-\u2015\u2212/~\"'\u2018\u2019\u201c\u201d£€¥¢₹°]|(?<!_)_(?!_))"
)

# An ending that spaCy's rules cut off a word, such as 's, 're or n't.
_ENDING = re.compile(r"(?:n['\u2019]t|['\u2019][a-z]{1,2})", re.IGNORECASE)

# The most tokens of a sentence that a biLM reads at once.
_MAX_SENTENCE_TOKENS = 100

# The common form of marks that are written in several ways.
_WRITTEN = {"``": '"', "''": '"', "\u2212": "-", "\u2014": "\u2013"}


def tokens_of(text: Doc | Span) -> list[Token]:
    """
    Returns the tokens that are not white space. A token covers `text[idx:idx_end]` of its doc.
    """
    return [
        Token(token.text, idx=token.idx, idx_end=token.idx + len(token))
        for token in text
        if not token.is_space
    ]


@Tokenizer.register("elmo_spacy")
class ElmoSpacyTokenizer(Tokenizer):
    """
    Cuts raw text into words by spaCy's rules for a language. The rules come with spaCy, so nothing
    is downloaded; AllenNLP's tokenizer `spacy` needs a trained pipeline.

    Registered as a `Tokenizer` with name "elmo_spacy".

    # Parameters

    language: spaCy's code of the language. Raises `ConfigurationError` if spaCy
        has no rules for it.
    """

    def __init__(self, language: str = "en") -> None:
        # Only the language code is kept, so a data loader sends no pipeline to its workers.
        self.language = language
        blank_pipeline(language)

    def tokenize(self, text: str) -> list[Token]:
        return tokens_of(pipeline_for(text, self.language).tokenizer(text))


@Tokenizer.register("elmo_splitting")
class SplittingTokenizer(Tokenizer):
    """
    Cuts raw text into words by spaCy's rules, and splits the words at hyphens, dashes, slashes,
    tildes, quotes, currency and degree signs and single underscores, as Clark and Gardner 2017 do,
    because an answer may be a part of a compound. Endings that spaCy cuts off, such as 's and n't,
    are not split. The quotes `` and '' become ", a minus sign becomes a hyphen, and an em dash
    becomes an en dash.

    Registered as a `Tokenizer` with name "elmo_splitting". Its parameter is that of "elmo_spacy".
    """

    def __init__(self, language: str = "en") -> None:
        self.words = ElmoSpacyTokenizer(language)

    def tokenize(self, text: str) -> list[Token]:
        """Returns the tokens, without white space. A token covers `text[idx:idx_end]`."""
        tokens: list[Token] = []
        for word in self.words.tokenize(text):
            for token in _split_word(word):
                # spaCy splits `` into two tokens.
                if (
                    tokens
                    and token.text == "`" == tokens[-1].text
                    and tokens[-1].idx_end == token.idx
                ):
                    token = _token("``", tokens.pop().idx)
                tokens.append(token)
        return tokens


def _split_word(word: Token) -> Iterator[Token]:
    if _ENDING.fullmatch(word.text):
        yield word
        return
    start = word.idx
    for part in _MARK.split(word.text):
        if part:
            yield _token(part, start)
        start += len(part)


def _token(raw: str, start: int) -> Token:
    return Token(_WRITTEN.get(raw, raw), idx=start, idx_end=start + len(raw))


class TextSentences:
    """
    Cuts a text, by spaCy's rules for a language, into the sentences that a biLM reads one by one.
    Sentences of more than 100 tokens are cut into pieces.

    # Parameters

    language: spaCy's code of the language. Raises `ConfigurationError` if spaCy
        has no rules for it.
    max_tokens: Only this many tokens of a text are read. By default all are read.
    """

    def __init__(self, language: str = "en", max_tokens: int | None = None) -> None:
        self.language = language
        self.max_tokens = max_tokens
        blank_pipeline(language)

    def of_text(self, text: str) -> list[list[Token]]:
        """Returns the tokens of each sentence of raw text."""
        return self._pieces(map(tokens_of, split_sentences(text, self.language)))

    def of_words(self, words: Sequence[str]) -> list[list[Token]]:
        """Returns the tokens of each sentence of a text that is already cut into words."""
        pipeline = blank_pipeline(self.language, with_sentences=True)
        doc = pipeline(Doc(pipeline.vocab, words=list(words)))
        return self._pieces([Token(token.text) for token in sentence] for sentence in doc.sents)

    def _pieces(self, sentences: Iterator[list[Token]]) -> list[list[Token]]:
        pieces: list[list[Token]] = []
        num_left = self.max_tokens
        for sentence in sentences:
            sentence = sentence[:num_left]
            for start in range(0, len(sentence), _MAX_SENTENCE_TOKENS):
                pieces.append(sentence[start : start + _MAX_SENTENCE_TOKENS])
            if num_left is not None:
                num_left -= len(sentence)
                if num_left == 0:
                    break
        return pieces
