"""
Say how likely each word of a text is.

Write the surprisal of each token (-log2 of its probability, in bits) given the tokens before it
(forward) and given the tokens after it (backward), by the language model in a biLM. The text has
one tokenized sentence a line; it may be a table or JSON lines, too. Tokens that the softmax does
not know share one class and are marked. Sentences and positions are counted from 0. At the end, the
perplexity of the text is printed to the standard error.

examples:
  echo "The boat left the bank ." | elmo-tasks score -
  elmo-tasks score text.txt.gz --output text.tsv --processes 4
  elmo-tasks score reviews.csv --column review --split --sums
  elmo-tasks score stories.txt --whole-words --context 3
  elmo-tasks score heldout.txt --sums --bilm my-language-model > heldout.tsv
"""

import argparse
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import IO, TYPE_CHECKING, Any

from elmo_tasks.commands.options import (
    add_count,
    add_shared,
    add_texts,
    check_written,
    device_of,
    texts_from_args,
    whole_number,
)
from elmo_tasks.common.errors import ConfigurationError, require_package
from elmo_tasks.common.progress import working

if TYPE_CHECKING:
    from elmo_tasks.embed.corpus import Corpus, Origin
    from elmo_tasks.language_model.scoring.language_model import LanguageModel
    from elmo_tasks.language_model.scoring.score_text import Cut, ScoreSettings
    from elmo_tasks.language_model.scoring.scorer import ScoreEngine
    from elmo_tasks.language_model.scoring.scores import Perplexity


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add_texts(parser)
    add_shared(parser, "--output", help="the file to write (default: the standard output)")
    add_shared(parser, "--force")
    add(
        "--sums",
        action="store_true",
        help="write a line a sentence: its line and row in the input; bits, bits a token, and "
        "perplexity in each direction; the sentence's end counts as a token",
    )
    cut = parser.add_mutually_exclusive_group()
    add_shared(cut, "--split")
    cut.add_argument(
        "--whole-words",
        action="store_true",
        help="the lines are sentences of words with punctuation glued on: cut each word into "
        "tokens by spaCy's rules, and add up their bits for the word",
    )
    add_shared(parser, "--language", "--dtype", "--cuda-device", "--threads")
    add(
        "--context",
        type=partial(whole_number, 0),
        default=0,
        metavar="N",
        help="let each direction first read the N sentences before a sentence, up to an empty "
        "line; with --split also up to the beginning of the row or file (default: 0). The biLM "
        "then runs N + 1 times",
    )
    add(
        "--bilm",
        metavar="NAME|FOLDER",
        default="base",
        help="a language model: the name of a biLM (default: base), a folder that elmo-tasks pack "
        "wrote, or a repository of its files on the Hugging Face hub",
    )
    add_count(parser, "--processes", 1, "score in N processes")


def inputs(args: argparse.Namespace) -> list[Any]:
    return list(args.input_file)


def run(args: argparse.Namespace) -> None:
    check_written(args, *args.input_file)
    from elmo_tasks.common.threads import one_thread
    from elmo_tasks.language_model.scoring.language_model import LanguageModel
    from elmo_tasks.language_model.scoring.score_text import ScoreSettings

    device = device_of(args)
    sentence_cut = _word_cutter(args)
    if args.processes > 1:
        if device.type != "cpu":
            raise ConfigurationError("--cuda-device needs a single process: leave out --processes")
        one_thread()
    # A missing file is noticed before the model is loaded.
    with texts_from_args(args) as corpus:
        with working(f"opening {args.bilm}"):
            model = LanguageModel.from_pretrained(args.bilm, device, args.dtype or "float32")
        settings = ScoreSettings(args.context, sentence_cut, args.sums)
        with _opened(args.output) as file:
            total = _score(corpus, model, settings, args.processes, file, args.split)
    name = "-" if args.input_file == ["-"] else corpus
    num_words = len(model.softmax.words) - 1
    print(f"{name}: {total}, over {num_words:,} words of {args.bilm}", file=sys.stderr)


@contextmanager
def _opened(output: str | None) -> Iterator[IO[str]]:
    """Opens the file to write, which appears whole, or the standard output."""
    from elmo_tasks.common.files import atomic_write, open_text

    if output is None:
        yield sys.stdout
        return
    with atomic_write(output) as aside, open_text(aside, output) as file:
        yield file


def _word_cutter(args: argparse.Namespace) -> "Cut | None":
    if not args.whole_words:
        return None
    require_package("spacy")
    from elmo_tasks.readers.spacy_pipeline import blank_pipeline

    tokenizer = blank_pipeline(args.language).tokenizer
    return lambda word: [token.text for token in tokenizer(word)]


def _score(
    corpus: "Corpus",
    model: "LanguageModel",
    settings: "ScoreSettings",
    num_processes: int,
    file: IO[str],
    is_split: bool,
) -> "Perplexity":
    """
    Writes the scores to a file or the standard output, and shows the progress. With `is_split`, the
    corpus cuts lines into sentences.
    """
    from tqdm import tqdm

    from elmo_tasks.common.worker_processes import in_processes
    from elmo_tasks.language_model.scoring.score_text import scores_of
    from elmo_tasks.language_model.scoring.scores import Perplexity

    total = Perplexity()
    engine: ScoreEngine = partial(in_processes, num_processes) if num_processes > 1 else map
    origins: deque[Origin] = deque()

    def documents() -> Iterator[list[str]]:
        for tokens in corpus.documents():
            origins.append(corpus.origin)
            yield tokens

    # A sentence is scored some time after it was read.
    scores_with_origins = zip(scores_of(model, documents(), settings, engine), _pop_all(origins))
    has_files = settings.sums and len(corpus.files) > 1
    # A short text needs no bar.
    with tqdm(unit=" tokens", desc="scoring", delay=1) as progress:
        file.write("file\t" * has_files + settings.header())
        # With --split, only the ends of documents have no tokens.
        sentences = (pair for pair in scores_with_origins if pair[0].tokens or not is_split)
        for index, (score, origin) in enumerate(sentences):
            name = f"{origin.file}\t" * has_files
            file.write(name + settings.lines(index, score, origin.line, origin.row))
            total.add(score)
            progress.set_postfix(read=f"{corpus.share_read:.0%}", refresh=False)
            progress.update(len(score.tokens))
    return total


def _pop_all(origins: "deque[Origin]") -> Iterator["Origin"]:
    while True:
        yield origins.popleft()
