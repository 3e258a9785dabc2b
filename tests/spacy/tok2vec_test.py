import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy
import pytest
import spacy
import torch
from spacy.cli.evaluate import evaluate
from spacy.cli.train import train
from spacy.language import Language
from spacy.tokens import DocBin
from spacy.training import Example
from spacy.training.converters import conll_ner_to_docs
from spacy.util import fix_random_seed
from thinc.api import Model

from elmo_tasks import ElmoEncoder
from elmo_tasks.elmo import ElmoMix
from elmo_tasks.spacy.tok2vec import mix, tok2vec
from tests.helpers.reference_bilm import FIXTURE

ROOT = FIXTURE.parents[1]
CONFIG = ROOT / "training_configs" / "spacy" / "tagger_ner.cfg"
ARCHITECTURE = "elmo_tasks.Tok2Vec.v1"
TAGGED = [("the dog barks", ["D", "N", "V"]), ("a cat  sleeps", ["D", "N", "_", "V"])]


def pipeline(**config: Any) -> Language:
    nlp = spacy.blank("en")
    tok2vec = {"@architectures": ARCHITECTURE, "width": 16, "bilm": str(FIXTURE), **config}
    model = {"@architectures": "spacy.Tagger.v2", "tok2vec": tok2vec}
    nlp.add_pipe("tagger", config={"model": model})
    return nlp


def learn(nlp: Language, steps: int = 40) -> Language:
    """Trains a tagger until it knows its sentences by heart."""
    examples = [Example.from_dict(nlp.make_doc(text), {"tags": tags}) for text, tags in TAGGED]
    fix_random_seed(0)
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(steps):
        nlp.update(examples, sgd=optimizer)
    return nlp


def tags(nlp: Language, text: str = "the dog barks") -> list[str]:
    return [token.tag_ for token in nlp(text)]


def node(model: Model, name: str) -> Model:
    (found,) = (node for node in model.walk() if node.name == name)
    return found


def test_the_mix_has_the_values_and_gradients_of_elmo_mix() -> None:
    rng = numpy.random.default_rng(0)
    layers, gradient = (rng.normal(size=s).astype("float32") for s in ((5, 3, 8), (5, 8)))
    ours, theirs = mix(), ElmoMix(3, dropout=0)
    ours.initialize(layers)
    for parameter in theirs.parameters():
        torch.nn.init.normal_(parameter)
    ours.set_param("w", theirs.scalar_parameters.detach().numpy().copy())
    ours.set_param("gamma", theirs.gamma.detach().numpy().copy())

    output, backprop = ours(layers, is_train=True)
    backprop(gradient)

    mask = torch.ones(1, 5, dtype=torch.bool)
    expected = theirs(torch.from_numpy(layers).transpose(0, 1)[None], mask)[0]
    expected.backward(torch.from_numpy(gradient))
    numpy.testing.assert_allclose(output, expected.detach(), rtol=1e-5, atol=1e-6)
    for name, parameter in (("w", theirs.scalar_parameters), ("gamma", theirs.gamma)):
        numpy.testing.assert_allclose(ours.get_grad(name), parameter.grad, rtol=1e-4, atol=1e-5)


def test_a_new_mix_is_the_mean_of_the_layers() -> None:
    layers = numpy.random.default_rng(0).normal(size=(4, 3, 6)).astype("float32")
    model = mix()

    model.initialize(layers)

    numpy.testing.assert_allclose(model.predict(layers), layers.mean(axis=1), rtol=1e-5, atol=1e-6)


def test_each_token_gets_the_layers_of_its_sentence() -> None:
    model = tok2vec(width=8, bilm=str(FIXTURE))
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    docs = [nlp("It works.  So it goes."), nlp("")]
    encoder = ElmoEncoder.from_pretrained(FIXTURE)

    layers, empty = node(model, "elmo_layers").predict(docs)

    assert layers.shape == (8, 3, 32) and empty.shape == (0, 3, 32)
    first, second = encoder.layers([["It", "works", "."], ["So", "it", "goes", "."]])
    numpy.testing.assert_allclose(layers[:3], first.transpose(0, 1), atol=1e-6)
    numpy.testing.assert_allclose(layers[4:], second.transpose(0, 1), atol=1e-6)
    assert not layers[3].any()


@pytest.mark.parametrize("with_words", [False, True])
def test_a_tagger_learns_and_is_saved_with_its_bilm(with_words: bool, tmp_path: Path) -> None:
    words = {
        "@architectures": "spacy.MultiHashEmbed.v2",
        "width": 8,
        "attrs": ["NORM"],
        "rows": [50],
        "include_static_vectors": False,
    }
    config: dict[str, Any] = {"words": words} if with_words else {}

    nlp = learn(pipeline(**config))

    assert tags(nlp) == ["D", "N", "V"]
    assert node(nlp.get_pipe("tagger").model, "elmo_mix").get_param("w").any()
    nlp.to_disk(tmp_path)
    loaded = pipeline(**config, bilm="gone/away").from_bytes(nlp.to_bytes())
    for other in (spacy.load(tmp_path), loaded):
        assert tags(other, "the cat barks") == tags(nlp, "the cat barks")


def test_two_processes_tag_as_one() -> None:
    nlp = learn(pipeline(), steps=5)
    texts = [text for text, _ in TAGGED]

    docs = list(nlp.pipe(texts, n_process=2, batch_size=1))

    assert [[token.tag_ for token in doc] for doc in docs] == [tags(nlp, text) for text in texts]


def test_a_store_keeps_the_layers_of_a_training(tmp_path: Path) -> None:
    learn(pipeline(store=str(tmp_path)), steps=1)

    with closing(sqlite3.connect(tmp_path / "layers.sqlite")) as connection:
        (num_layers,) = connection.execute("SELECT count(*) FROM layers").fetchone()
    assert num_layers >= len(TAGGED)


def test_spacy_trains_the_shipped_config_and_evaluates_to_the_same(tmp_path: Path) -> None:
    text = (ROOT / "fixtures" / "ner.txt").read_text(encoding="utf-8")
    docs = list(conll_ner_to_docs(text))
    assert max(len(list(doc.sents)) for doc in docs) > 1
    DocBin(docs=docs).to_disk(tmp_path / "data.spacy")
    changes: dict[str, Any] = {
        "paths.train": str(tmp_path / "data.spacy"),
        "paths.dev": str(tmp_path / "data.spacy"),
        "components.tok2vec.model.embed.bilm": str(FIXTURE),
        "components.tok2vec.model.encode.depth": 1,
        "training.max_steps": 30,
        "training.eval_frequency": 30,
        "training.dropout": 0.0,
    }

    train(CONFIG, tmp_path / "model", overrides=changes)

    nlp = spacy.load(tmp_path / "model" / "model-last")
    assert nlp.pipe_names == ["sentencizer", "tok2vec", "tagger", "ner"]
    scores = nlp.meta["performance"]
    assert scores["tag_acc"] > 0.8 and scores["ents_f"] > 0.5
    again = evaluate(str(tmp_path / "model" / "model-last"), tmp_path / "data.spacy")
    for name in ("tag_acc", "ents_f"):
        assert again[name] == pytest.approx(scores[name], abs=1e-6)
