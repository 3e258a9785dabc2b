"""
Measures `elmo_srl_tagger` beside allennlp-models' `srl`: a training step, and a prediction from
tokens and predicates to roles. Prints a table in Markdown.

    python -m benchmarks.srl data/conll2012/dev.gold_conll

Both models have the same sizes and the same random weights, run in one process and one thread on
the same data, and take turns. A speed is that of the median turn in CPU seconds, so that other
programs on the core do not count. A training step is the loss, its gradients, their norm and the
optimizer. A prediction begins with the words of each sentence and the indices of its predicates.
`elmo_srl_tagger` is also measured from raw text, where it cuts the tokens and finds the predicates
itself. The lines below the table say how far the logits of the two models differ. The configs are
`baseline` and `input`, since allennlp-models has ELMo at the input alone.

allennlp-models requires an old PyTorch and other packages, but its `srl` runs without them:

    pip install --no-deps allennlp-models==2.10.1 conllu

Where it is not installed, only `elmo_srl_tagger` is measured.
"""

import argparse
import random
from datetime import date
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import torch
from allennlp.common import Params
from allennlp.common.util import lazy_groups_of
from allennlp.data import DataLoader, DatasetReader, TensorDict, Vocabulary
from allennlp.data.tokenizers import Token
from allennlp.models import Model
from allennlp.modules.seq2seq_encoders import StackedAlternatingLstmSeq2SeqEncoder

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
from elmo_tasks.models.srl_tagger import SrlTagger
from elmo_tasks.predictors.srl import SrlPredictor
from elmo_tasks.readers.srl_file import SrlSentence, read_srl

try:
    from allennlp_models.structured_prediction import SemanticRoleLabeler
    from allennlp_models.structured_prediction import SrlReader as TheirReader
except ImportError:
    SemanticRoleLabeler = TheirReader = None

OURS, THEIRS = "`elmo_srl_tagger`", "allennlp-models' `srl`"
TOKENS, TEXT = "tokens to roles", "raw text to roles"
# The number of predicates that both models read at a time in a prediction.
GROUP = 64


class Setting(NamedTuple):
    """A config, its reader, batches for training, and sentences to predict."""

    config: dict[str, Any]
    reader: DatasetReader
    batches: list[TensorDict]
    sentences: list[SrlSentence]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("file", type=Path, help="semantic roles in the columns of CoNLL-2012")
    add("--sentences", type=int, default=50, help="sentences to predict (default: 50)")
    add("--batches", type=int, default=3, help="training batches (default: 3)")
    add("--turns", type=int, default=5, help="turns of each measurement (default: 5)")
    add("--set", default="{}", help="a jsonnet object that is added to each config")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    sentences = list(islice(read_srl(arguments.file), arguments.sentences))
    print(
        f"{date.today()}, {machine()}, one thread, torch {torch.__version__}; {len(sentences)} "
        f"sentences with {sum(len(each.predicates) for each in sentences)} predicates of "
        f"{arguments.file.name}, medians of {arguments.turns} turns\n"
    )
    print("| config | model | predicates/s, training | sentences/s, tokens to roles | raw text |")
    print("| --- | --- | --- | --- | --- |")
    notes = [measure(variant, sentences, arguments) for variant in VARIANTS]
    print("", *notes, sep="\n")


def measure(variant: str, sentences: list[SrlSentence], arguments: argparse.Namespace) -> str:
    """Prints the rows of a variant, and returns a line on how far the two models agree."""
    config = evaluate("srl", variant, arguments.set)
    reader = DatasetReader.from_params(Params(config["dataset_reader"]).duplicate())
    vocab, batches = read(config, reader, arguments)
    setting = Setting(config, reader, batches, sentences)
    torch.manual_seed(0)
    ours = Model.from_params(Params(config["model"]).duplicate(), vocab=vocab)
    works = works_of_ours(ours, setting)
    note = "allennlp-models is not installed (see --help)"
    if SemanticRoleLabeler is not None:
        theirs = upstream(ours, config)
        note = f"the logits differ by {largest_difference(ours, theirs, batches[0]):.1e} at most"
        works |= works_of_theirs(theirs, setting)
    seconds = alternate(works, arguments.turns)
    num_trained = sum(len(batch["predicate"]) for batch in batches)
    counts = {TRAINING: num_trained, TOKENS: len(sentences), TEXT: len(sentences)}
    print(rows(variant, seconds, counts), flush=True)
    return f"`{variant}`: {note}."


def read(
    config: dict[str, Any], reader: DatasetReader, arguments: argparse.Namespace
) -> tuple[Vocabulary, list[TensorDict]]:
    """Returns the vocabulary of the file, and training batches as the config makes them."""
    loader = DataLoader.from_params(
        Params(config["data_loader"]).duplicate(), reader=reader, data_path=str(arguments.file)
    )
    vocab = Vocabulary.from_instances(loader.iter_instances())
    loader.index_with(vocab)
    # The sampler draws the order of the batches.
    random.seed(0)
    return vocab, list(islice(loader, arguments.batches))


def works_of_ours(model: SrlTagger, setting: Setting) -> Works:
    predictor = SrlPredictor(model, setting.reader)
    given = [
        {"tokens": each.words, "predicates": [one.position for one in each.predicates]}
        for each in setting.sentences
    ]
    raw = [{"sentence": " ".join(each.words)} for each in setting.sentences]
    return {
        (OURS, TRAINING): training(model, setting.config, setting.batches),
        (OURS, TOKENS): lambda: predictor.predict_batch_json(given),
        (OURS, TEXT): lambda: predictor.predict_batch_json(raw),
    }


def works_of_theirs(model: Model, setting: Setting) -> Works:
    reader = TheirReader(token_indexers=setting.reader.token_indexers)

    def predict() -> None:
        instances = [
            reader.text_to_instance(
                [Token(word) for word in sentence.words],
                [int(index == predicate.position) for index in range(len(sentence.words))],
            )
            for sentence in setting.sentences
            for predicate in sentence.predicates
        ]
        for group in lazy_groups_of(instances, GROUP):
            model.forward_on_instances(group)

    batches = [their_batch(batch) for batch in setting.batches]
    return {(THEIRS, TRAINING): training(model, setting.config, batches), (THEIRS, TOKENS): predict}


def upstream(ours: SrlTagger, config: dict[str, Any]) -> Model:
    """Returns allennlp-models' model with the sizes and the weights of ours."""
    encoder = config["model"]["encoder"]
    sizes = {name: value for name, value in encoder.items() if name != "type"}
    mix = config["model"]["text_embedder"].get("input_mix", {})
    theirs = SemanticRoleLabeler(
        ours.vocab,
        UpstreamEmbedder(ours.text_embedder, mix.get("dropout", 0.0)),
        StackedAlternatingLstmSeq2SeqEncoder(**sizes, use_input_projection_bias=False),
        config["model"]["predicate_dim"],
        srl_eval_path=None,
    )
    theirs.encoder.load_state_dict(ours.encoder.state_dict())
    theirs.binary_feature_embedding.load_state_dict(ours.predicate_embedding.state_dict())
    theirs.tag_projection_layer._module.load_state_dict(ours.tag_scores.state_dict())
    return theirs


def their_batch(batch: TensorDict) -> TensorDict:
    """Returns one of our batches with the fields of allennlp-models."""
    marks = torch.zeros_like(batch["tags"]).scatter(1, batch["predicate"], 1)
    metadata = [
        {"words": about["tokens"], "verb": about["tokens"][about["predicate"]]}
        for about in batch["metadata"]
    ]
    return {
        "tokens": batch["tokens"],
        "verb_indicator": marks,
        "tags": batch["tags"],
        "metadata": metadata,
    }


@torch.no_grad()
def largest_difference(ours: SrlTagger, theirs: Model, batch: TensorDict) -> float:
    """Returns the largest difference of the two models' logits on one of our batches."""
    expected = theirs.eval()(**their_batch(batch))
    found = ours.eval()(**batch)
    return (found["logits"] - expected["logits"])[found["mask"]].abs().max().item()


if __name__ == "__main__":
    main()
