"""The systems that are compared: each trains on examples, and returns a function that predicts."""

import json
import os
import random
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import _jsonnet
import numpy
import spacy
from allennlp.common import Params
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from spacy.tokens import Doc
from spacy.training import Example as SpacyExample
from spacy.training import biluo_tags_to_spans, iob_to_biluo
from spacy.util import fix_random_seed, minibatch

import elmo_tasks
from benchmarks.knowledge.classify import MEANS_C, WORDS_C, tokenize
from benchmarks.knowledge.glove import read_glove
from benchmarks.own_text.data import Example, held_out, score
from elmo_tasks.commands.in_allennlp.train_command import train_model
from elmo_tasks.commands.own_data.inspect_data import schedule
from elmo_tasks.common.package_data import import_jsonnet
from elmo_tasks.readers.entities import read_entities, write_tags
from elmo_tasks.sklearn import ElmoFeatures

Predict = Callable[[Sequence[Any]], list[Any]]
Train = Callable[[list[Example], Path, int], Predict]
_GLOVE = "vectors/glove.6B.100d.120k.txt.gz"
# An epoch of spaCy that is no better than so many before ends its training.
_PATIENCE, _MAX_EPOCHS = 8, 60


def _pipeline(*parts: Any, c: float) -> Train:
    """Trains a logistic regression on features, with scikit-learn's `C`."""

    def train(examples: list[Example], data: Path, seed: int) -> Predict:
        steps = [part(data) if callable(part) else part for part in parts]
        classifier = LogisticRegression(C=c, max_iter=2000, random_state=seed)
        model = make_pipeline(*steps, classifier)
        model.fit([example.text for example in examples], [example.gold for example in examples])
        return lambda texts: list(model.predict(list(texts)))

    return train


def _glove_mean(data: Path) -> FunctionTransformer:
    glove = read_glove(data)

    def means(texts: list[str]) -> numpy.ndarray:
        return numpy.stack([glove.mean(words) for words in tokenize(texts)])

    return FunctionTransformer(means)


def _spacy(kind: str) -> Train:
    name = {"texts": "textcat", "entities": "ner", "tags": "tagger"}[kind]

    def bare(nlp: Any, example: Example) -> Doc:
        is_text = kind == "texts"
        return nlp.make_doc(example.text) if is_text else Doc(nlp.vocab, words=example.text)

    def reference(nlp: Any, example: Example, labels: set[str]) -> Doc:
        if kind == "texts":
            doc = bare(nlp, example)
            doc.cats = {label: float(label == example.gold) for label in labels}
            return doc
        if kind == "tags":
            return Doc(nlp.vocab, words=example.text, tags=example.gold)
        doc = bare(nlp, example)
        doc.ents = biluo_tags_to_spans(doc, iob_to_biluo(example.gold))
        return doc

    def train(examples: list[Example], data: Path, seed: int) -> Predict:
        fix_random_seed(seed)
        nlp = spacy.blank("en")
        nlp.add_pipe(name)
        labels = {example.gold for example in examples} if kind == "texts" else set()
        train_part, dev = held_out(examples)
        docs = [reference(nlp, example, labels) for example in train_part]
        pairs = [SpacyExample(bare(nlp, example), doc) for example, doc in zip(train_part, docs)]
        optimizer = nlp.initialize(lambda: pairs)
        best, best_state, waited = -1.0, nlp.to_bytes(), 0
        for _ in range(_MAX_EPOCHS):
            random.shuffle(pairs)
            for batch in minibatch(pairs, 16):
                nlp.update(batch, sgd=optimizer, drop=0.2)
            with nlp.use_params(optimizer.averages):
                dev_score = score(kind, [example.gold for example in dev], predict(nlp, dev))
                if dev_score > best:
                    best, best_state, waited = dev_score, nlp.to_bytes(), 0
                    continue
            waited += 1
            if waited == _PATIENCE:
                break
        nlp.from_bytes(best_state)
        return lambda texts: predict(nlp, [Example(text, None) for text in texts])

    def predict(nlp: Any, examples: list[Example]) -> list[Any]:
        docs = nlp.pipe([bare(nlp, example) for example in examples])
        if kind == "texts":
            return [max(doc.cats, key=doc.cats.get) for doc in docs]
        if kind == "tags":
            return [[token.tag_ for token in doc] for doc in docs]
        return [
            [token.ent_iob_ if token.ent_iob_ in "O" else f"{token.ent_iob_}-{token.ent_type_}"
             for token in doc]
            for doc in docs
        ]  # fmt: skip

    return train


def _ours(kind: str, elmo_at: list[str], bilm: str) -> Train:
    def train(examples: list[Example], data: Path, seed: int) -> Predict:
        with tempfile.TemporaryDirectory() as folder:
            train_part, dev = held_out(examples)
            for name, part in (("train", train_part), ("dev", dev)):
                text, gold = ("text", "label") if kind == "texts" else ("tokens", "tags")
                rows = [json.dumps({text: example.text, gold: example.gold}) for example in part]
                Path(folder, f"{name}.jsonl").write_text("\n".join(rows), encoding="utf-8")
            batch_size, num_epochs, patience = schedule(len(train_part))
            fields = {
                "train_data_path": f"{folder}/train.jsonl",
                "validation_data_path": f"{folder}/dev.jsonl",
                "elmo_at": elmo_at,
                "bilm": _bilm_field(bilm),
                "store": {"memory": 4000} if elmo_at else None,
                "batch_size": batch_size,
                "num_epochs": num_epochs,
                "patience": patience,
                **({} if kind == "texts" else {"column": "tags", "spans": kind == "entities"}),
                **dict.fromkeys(("random_seed", "numpy_seed", "pytorch_seed"), seed),
            }
            library = "classify" if kind == "texts" else "tag"
            snippet = (
                f"(import 'elmo_tasks/{library}.libsonnet') + {json.dumps(fields)} + "
                "{ word_vectors: (import 'elmo_tasks/vectors.libsonnet')['glove.6B.100d'] + "
                f"{{ pretrained_file: '{data / _GLOVE}' }} }}"
            )
            config = json.loads(
                _jsonnet.evaluate_snippet("", snippet, import_callback=import_jsonnet)
            )
            train_model(Params(config), f"{folder}/model")
            loaded = elmo_tasks.load(f"{folder}/model")

        def predict(texts: Sequence[Any]) -> list[Any]:
            name = "text" if kind == "texts" else "tokens"
            answers = loaded.predict([{name: text_value} for text_value in texts])
            if kind == "texts":
                return [answer["label"] for answer in answers]
            if kind == "tags":
                return [answer["tags"] for answer in answers]
            return [
                write_tags(read_entities(answer["tags"], "BIOUL"), len(answer["tags"]), "BIO")
                for answer in answers
            ]

        return predict

    return train


def _bilm_field(bilm: str) -> Any:
    """Returns what a config has for a biLM: its name, or the files in the folder of a training."""
    file = Path(bilm, "bilm.libsonnet")
    return json.loads(_jsonnet.evaluate_file(os.fspath(file))) if file.is_file() else bilm


def systems(kind: str, bilm: str) -> dict[str, Train]:
    """Returns the systems for a kind of task, by their names."""
    ours = "classify" if kind == "texts" else "tag"
    systems_by_name = {
        "spaCy from nothing": _spacy(kind),
        f"{ours} with GloVe": _ours(kind, [], bilm),
        f"{ours} with GloVe and ELMo": _ours(kind, ["input"], bilm),
    }
    if kind != "texts":
        return systems_by_name
    features = lambda data: ElmoFeatures(bilm)  # noqa: E731
    return {
        "TF-IDF": _pipeline(TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True), c=WORDS_C),
        "mean of GloVe": _pipeline(_glove_mean, StandardScaler(), c=MEANS_C),
        "ElmoFeatures": _pipeline(features, StandardScaler(), c=MEANS_C),
        **systems_by_name,
    }
