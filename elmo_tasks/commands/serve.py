"""
Show models in the browser, and answer requests for their predictions.

Start a page in the browser. It has a tab for each model, to type a text and see the answer, and
tabs for ELMo itself: the layers of a sentence, the senses of a word, the mixes of the models, and
how likely words are, if the biLM has its softmax. Programs get the same answers as JSON (`POST
/predict/NAME`). The server works without a network. By default only this machine can reach it.

examples:
  elmo-tasks serve
  elmo-tasks serve runs/sst/both/model.tar.gz
  elmo-tasks serve sentiment=runs/sst/both entities=runs/ner/input --port 0
  curl http://127.0.0.1:8000/predict/sst -d '{"sentence": "A moving film."}'
"""

import argparse
import contextlib
import os
import sys

from elmo_tasks.commands.options import MODELS, add_bilm, add_shared, open_from_args
from elmo_tasks.common.package_data import TRAINED


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "models",
        metavar="[NAME=]MODEL",
        nargs="*",
        help="the model.tar.gz or the folder of a training run, or the name of a model of the "
        f"package: {MODELS} (default: all of them); NAME is by default the path without the "
        "leading folders that all models share",
    )
    add(
        "--host",
        default="127.0.0.1",
        help="the address to listen on; 0.0.0.0 lets other machines in (default: 127.0.0.1)",
    )
    add(
        "--port",
        type=int,
        default=8000,
        help="the port to listen on; 0 takes a free one (default: 8000)",
    )
    tabs = "the text in the tabs Layers, Senses and Words, such as de or zh,"
    add_shared(parser, "--language", help=f"spaCy's code of the language of {tabs} (default: en)")
    add_bilm(parser)


def run(args: argparse.Namespace) -> None:
    from elmo_tasks.archives.known_models import name_archives
    from elmo_tasks.archives.open_archive import open_archive
    from elmo_tasks.elmo.sentence_layers import SentenceLayers
    from elmo_tasks.language_model.scoring.language_model import LanguageModel, has_softmax
    from elmo_tasks.readers.spacy_pipeline import blank_pipeline
    from elmo_tasks.serve.answering import Limits
    from elmo_tasks.serve.app import ServedModel, make_app
    from elmo_tasks.serve.server import address_of, is_loopback, listen, make_server

    # A wrong language code is noticed before the models are loaded.
    blank_pipeline(args.language)
    limits = Limits()
    with listen(args.host, args.port) as listening:
        archives = name_archives(args.models or TRAINED)
        models = [ServedModel(name, open_archive(path)) for name, path in archives.items()]
        model = open_from_args(args)
        layers = SentenceLayers(model.bilm)
        language_model = None
        if not args.weights and has_softmax(model.name):
            language_model = LanguageModel.from_pretrained(model.name)
        app = make_app(models, layers, model.name, args.host, limits, language_model, args.language)
        if not is_loopback(listening):
            print(
                "WARNING: every machine that reaches this one can use the server; it asks for "
                "no password and does not encrypt"
            )
        print(f"{address_of(listening)}  (Ctrl-C stops the server)", flush=True)
        # Ctrl-C is how one stops the server.
        with contextlib.suppress(KeyboardInterrupt):
            make_server(app, limits).run(sockets=[listening])
        if app.state.worker.is_busy:
            # Python would wait until the thread has computed an answer that nobody reads.
            sys.stdout.flush()
            os._exit(0)
