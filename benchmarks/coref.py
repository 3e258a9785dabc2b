"""
Measures `elmo_coref` beside allennlp-models' `coref`: a training step, and a prediction from words
to clusters. Prints a table in Markdown.

    python -m benchmarks.coref data/conll2012/dev.english.v4_gold_conll

Both models have random weights of the same sizes, run in one process and one thread on the same
document, and take turns. A speed is that of the median turn in CPU seconds, so that other programs
on the core do not count. A training step is the loss of the whole document, its gradients, their
norm and the optimizer. `elmo_coref` is also measured from raw text, where it cuts the sentences and
tokens itself. The configs are `baseline` and `input`, since allennlp-models has ELMo at the input
alone.

allennlp-models requires an old PyTorch and other packages, but its `coref` runs without them:

    pip install --no-deps allennlp-models==2.10.1 conllu

Where it is not installed, only `elmo_coref` is measured.
"""

import argparse
from datetime import date
from pathlib import Path
from typing import Any

import torch
from allennlp.common import Params
from allennlp.data import Batch, DatasetReader, Instance, TensorDict, Vocabulary
from allennlp.models import Model
from allennlp.modules import FeedForward
from allennlp.modules.seq2seq_encoders import LstmSeq2SeqEncoder

import elmo_tasks.plugin  # noqa: F401  registers every name
from benchmarks.machine import machine
from benchmarks.task_models import (
    TRAINING,
    VARIANTS,
    UpstreamEmbedder,
    Works,
    alternate,
    evaluate,
    rows,
    training,
)
from elmo_tasks.models.coref_resolver import CorefResolver
from elmo_tasks.predictors.coref import CorefPredictor

try:
    from allennlp_models.coref import ConllCorefReader as TheirReader
    from allennlp_models.coref import CoreferenceResolver
except ImportError:
    CoreferenceResolver = TheirReader = None

OURS, THEIRS = "`elmo_coref`", "allennlp-models' `coref`"
WORDS, TEXT = "words to clusters", "raw text to clusters"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("file", type=Path, help="documents in the format of CoNLL-2012")
    add("--words", type=int, default=800, help="the document nearest to so many (default: 800)")
    add("--turns", type=int, default=3, help="turns of each measurement (default: 3)")
    add("--set", default="{}", help="a jsonnet object that is added to each config")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    print(
        f"{date.today()}, {machine()}, one thread, torch {torch.__version__}; a document of "
        f"{arguments.file.name}, medians of {arguments.turns} turns\n"
    )
    print("| config | model | words/s, training | words/s, words to clusters | raw text |")
    print("| --- | --- | --- | --- | --- |")
    for variant in VARIANTS:
        num_words = measure(variant, arguments)
    print(f"\nThe document has {num_words:,} words.")
    if CoreferenceResolver is None:
        print("allennlp-models is not installed (see --help).")


def measure(variant: str, arguments: argparse.Namespace) -> int:
    """Prints the rows of a variant, and returns the number of words of the document."""
    whole = "{ max_training_sentences: 1000000 }"
    config = evaluate("coref", variant, f"{whole} + {arguments.set}")
    reader = DatasetReader.from_params(Params(config["dataset_reader"]).duplicate())
    instances = list(reader.read(str(arguments.file)))
    vocab = Vocabulary.from_instances(instances)
    document = min(instances, key=lambda each: abs(len(each["tokens"]) - arguments.words))
    torch.manual_seed(0)
    ours = Model.from_params(Params(config["model"]).duplicate(), vocab=vocab)
    works = works_of_ours(ours, reader, config, document)
    if CoreferenceResolver is not None:
        works |= works_of_theirs(upstream(ours, config), reader, config, document)
    seconds = alternate(works, arguments.turns)
    num_words = len(document["tokens"])
    print(rows(variant, seconds, dict.fromkeys((TRAINING, WORDS, TEXT), num_words)), flush=True)
    return num_words


def works_of_ours(
    model: CorefResolver, reader: DatasetReader, config: dict[str, Any], document: Instance
) -> Works:
    predictor = CorefPredictor(model, reader)
    sentences = document["metadata"]["sentences"]
    text = " ".join(word for sentence in sentences for word in sentence)
    return {
        (OURS, TRAINING): training(model, config, [to_batch(document, model.vocab)]),
        (OURS, WORDS): lambda: predictor.predict_json({"sentences": sentences}),
        (OURS, TEXT): lambda: predictor.predict_json({"document": text}),
    }


def works_of_theirs(
    model: Model, ours: DatasetReader, config: dict[str, Any], document: Instance
) -> Works:
    reader = TheirReader(config["model"]["max_span_width"], ours.token_indexers)
    about = document["metadata"]
    clusters = [[(start, end - 1) for start, end in each] for each in about["clusters"]]
    labelled = reader.text_to_instance(about["sentences"], clusters)
    return {
        (THEIRS, TRAINING): training(model, config, [to_batch(labelled, model.vocab)]),
        (THEIRS, WORDS): lambda: model.forward_on_instance(
            reader.text_to_instance(about["sentences"])
        ),
    }


def to_batch(instance: Instance, vocab: Vocabulary) -> TensorDict:
    batch = Batch([instance])
    batch.index_instances(vocab)
    return batch.as_tensor_dict()


def upstream(ours: CorefResolver, config: dict[str, Any]) -> Model:
    """Returns allennlp-models' model with random weights of the sizes of ours."""
    model, encoder = config["model"], config["model"]["encoder"]
    mix = model["text_embedder"].get("input_mix", {})
    embedder = UpstreamEmbedder(ours.text_embedder, mix.get("dropout", 0.0))
    span_dim = 4 * encoder["hidden_size"] + embedder.get_output_dim() + model["feature_dim"]

    def feedforward(name: str, input_dim: int) -> FeedForward:
        return FeedForward.from_params(Params({**model[name], "input_dim": input_dim}))

    return CoreferenceResolver(
        ours.vocab,
        embedder,
        LstmSeq2SeqEncoder(encoder["input_size"], encoder["hidden_size"], bidirectional=True),
        feedforward("mention_feedforward", span_dim),
        feedforward("antecedent_feedforward", 3 * span_dim + model["feature_dim"]),
        model["feature_dim"],
        model["max_span_width"],
        model["spans_per_word"],
        model["max_antecedents"],
        lexical_dropout=model["lexical_dropout"],
    )


if __name__ == "__main__":
    main()
