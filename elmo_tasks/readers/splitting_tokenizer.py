import re
from collections.abc import Iterator

from allennlp.data.tokenizers import Token, Tokenizer

from elmo_tasks.readers.spacy_tokenizer import ElmoSpacyTokenizer

# A mark that becomes a token of its own: `` or '', a hyphen, dash, slash, tilde, quote, currency or
# degree sign, or a single underscore.
_MARK = re.compile(
    r"(``|''|[-\u2010-\u2015\u2212/~\"'\u2018\u2019\u201c\u201d£€¥¢₹°]|(?<!_)_(?!_))"
)

# An ending that spaCy's rules cut off a word, such as 's, 're or n't.
_ENDING = re.compile(r"(?:n['\u2019]t|['\u2019][a-z]{1,2})", re.IGNORECASE)

# The common form of marks that are written in several ways.
_WRITTEN = {"``": '"', "''": '"', "\u2212": "-", "\u2014": "\u2013"}


@Tokenizer.register("elmo_splitting")
class SplittingTokenizer(Tokenizer):
    """
    Cuts raw text into words by spaCy's rules, and splits the words at hyphens, dashes, slashes,
    tildes, quotes, currency and degree signs and single underscores. Clark and Gardner 2017 split
    words in this way for reading comprehension, because an answer may be a part of a compound.
    Endings that spaCy cuts off, such as 's and n't, stay whole. The tokens `` and '' become ", a
    minus sign becomes a hyphen, and an em dash becomes an en dash. Case is kept.

    Registered as a `Tokenizer` with name "elmo_splitting".

    # Parameters

    language (default `'en'`): spaCy's code of the language.
    """

    def __init__(self, language: str = "en") -> None:
        self.words = ElmoSpacyTokenizer(language)

    def tokenize(self, text: str) -> list[Token]:
        """Returns the tokens. No token contains white space. A token covers `text[idx:idx_end]`."""
        tokens: list[Token] = []
        for word in self.words.tokenize(text):
            for token in _split(word):
                # spaCy splits `` into two tokens.
                if (
                    tokens
                    and token.text == "`" == tokens[-1].text
                    and tokens[-1].idx_end == token.idx
                ):
                    token = _token("``", tokens.pop().idx)
                tokens.append(token)
        return tokens


def _split(word: Token) -> Iterator[Token]:
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
