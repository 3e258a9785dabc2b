import argparse
from collections.abc import Callable
from functools import partial


def add_language(parser: argparse.ArgumentParser, text: str = "raw text") -> None:
    """Adds the option for the language of a text."""
    parser.add_argument(
        "--language",
        metavar="CODE",
        default="en",
        help=f"spaCy's code of the language of {text}, such as de or zh (default: en)",
    )


def splitter(args: argparse.Namespace) -> Callable[[str], list[str]] | None:
    """If the text is raw, returns a function that cuts raw text into tokenized sentences."""
    if not args.split:
        return None
    # spaCy is imported only when it is needed.
    from elmo_tasks.readers.spacy_pipeline import blank_pipeline, tokenized_sentences

    # The pipeline is made here, so that a wrong language code is noticed before the text is read.
    blank_pipeline(args.language)
    return partial(tokenized_sentences, language=args.language)
