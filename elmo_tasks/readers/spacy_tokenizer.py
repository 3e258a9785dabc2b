from allennlp.data.tokenizers import Token, Tokenizer

from elmo_tasks.readers.spacy_pipeline import blank_pipeline


@Tokenizer.register("elmo_spacy")
class ElmoSpacyTokenizer(Tokenizer):
    """
    Cuts raw text into words by spaCy's rules for a language. The rules come with spaCy, so nothing
    is downloaded; AllenNLP's tokenizer `spacy` needs a trained pipeline. An archive stores only the
    code of the language, such as `en`.

    Registered as a `Tokenizer` with name "elmo_spacy".

    # Parameters

    language (default `'en'`): spaCy's code of the language. Raises `ConfigurationError` if spaCy
        has no rules for it.
    """

    def __init__(self, language: str = "en") -> None:
        # Only the language code is kept, so a data loader sends no pipeline to its workers.
        self.language = language
        blank_pipeline(language)

    def tokenize(self, text: str) -> list[Token]:
        """
        Returns the tokens that are not white space. A token covers `text[idx:idx_end]`.
        """
        return [
            Token(token.text, idx=token.idx, idx_end=token.idx + len(token))
            for token in blank_pipeline(self.language).tokenizer(text)
            if not token.is_space
        ]
