import io
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import joblib
import numpy
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks

from elmo_tasks import ElmoEncoder
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.file_names import MIX_FILE
from elmo_tasks.elmo.mix import ElmoMix, write_mix
from elmo_tasks.sklearn import ElmoFeatures
from tests.helpers.archives import make_archive
from tests.helpers.configs import ROOT
from tests.helpers.reference_bilm import FIXTURE, random_files

TEXTS: list[Any] = ["It isn't dull. It works!", "A film without charm", "", [], ["It", "works"]]

# The checks of scikit-learn that apply to an estimator of texts.
CHECKS = [
    estimator_checks.check_do_not_raise_errors_in_init_or_set_params,
    estimator_checks.check_estimator_cloneable,
    estimator_checks.check_estimator_repr,
    estimator_checks.check_estimator_tags_renamed,
    estimator_checks.check_get_params_invariance,
    estimator_checks.check_mixin_order,
    estimator_checks.check_no_attributes_set_in_init,
    estimator_checks.check_parameters_default_constructible,
    estimator_checks.check_set_params,
    estimator_checks.check_valid_tag_types,
]


def features(**parameters: Any) -> ElmoFeatures:
    return ElmoFeatures(str(FIXTURE), **parameters)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_estimator_passes_the_checks_of_scikit_learn(check: Callable) -> None:
    check("ElmoFeatures", features())


@pytest.mark.parametrize("layers, output", [("all", "elmo"), (1, "lstm_outputs1")])
def test_vectors_are_means_over_all_sentences(layers: str | int, output: str) -> None:
    encoder = ElmoEncoder.from_pretrained(FIXTURE, as_numpy=True)
    sentences = [["It", "is", "n't", "dull", "."], ["It", "works", "!"], TEXTS[1].split(), TEXTS[4]]
    vectors = [output_of[output] for output_of in encoder.iterate(sentences)]

    result = features(layers=layers).fit_transform(TEXTS)

    assert result.shape == (5, 32) and result.dtype == numpy.float32
    expected = [numpy.concatenate(vectors[:2]).mean(axis=0), vectors[2].mean(axis=0)]
    numpy.testing.assert_allclose(result[:2], expected, atol=1e-5)
    assert not result[2:4].any()
    numpy.testing.assert_allclose(result[4], vectors[3].mean(axis=0), atol=1e-5)


def test_layers_stand_side_by_side() -> None:
    together = features(layers="concat")

    result = together.transform(TEXTS)

    each = [features(layers=layer).transform(TEXTS) for layer in range(3)]
    numpy.testing.assert_allclose(result, numpy.concatenate(each, axis=1), atol=1e-6)
    assert together.get_feature_names_out().tolist() == [f"elmofeatures{k}" for k in range(96)]


@pytest.mark.parametrize("kind", [list, tuple, iter, numpy.array])
def test_a_tokenizer_may_return_any_iterable_of_tokens(kind: Callable) -> None:
    expected = features().transform([["It", "works!"]])

    result = features(tokenizer=lambda text: kind(text.split())).transform(["It works!"])

    numpy.testing.assert_allclose(result, expected, atol=1e-6)


def test_a_pipeline_searches_and_predicts() -> None:
    texts = ["good fine", "bad dull", "good charm", "bad film"] * 3
    labels = [1, 0, 1, 0] * 3
    pipeline = make_pipeline(features(), LogisticRegression())

    search = GridSearchCV(pipeline, {"elmofeatures__layers": ["all", "last"]}, cv=2)

    assert search.fit(texts, labels).predict(texts).tolist() == labels


def test_a_pickle_has_the_parameters_alone() -> None:
    fitted = features(layers="last").fit(TEXTS)
    file = io.BytesIO()

    joblib.dump(fitted, file)

    assert file.tell() < 500
    file.seek(0)
    loaded = joblib.load(file)
    assert loaded.get_params() == fitted.get_params()
    assert numpy.array_equal(loaded.transform(TEXTS), fitted.transform(TEXTS))


def test_changed_parameters_count() -> None:
    estimator = features().fit(TEXTS)
    before = estimator.transform(TEXTS)

    changed = clone(estimator).set_params(layers=0)

    assert not numpy.allclose(changed.transform(TEXTS), before)
    assert numpy.array_equal(estimator.transform(TEXTS), before)


# Parameters, texts and words of the message.
REFUSED: list[tuple[dict[str, Any], Any, str]] = [
    ({"bilm": "minni"}, TEXTS, "minni"),
    ({"layers": 3}, TEXTS, "layers of a mix must be"),
]


@pytest.mark.parametrize(("parameters", "texts", "message"), REFUSED)
def test_what_cannot_be_used_is_refused(
    parameters: dict[str, Any], texts: Any, message: str
) -> None:
    with pytest.raises((ConfigurationError, ValueError), match=re.escape(message)):
        features().set_params(**parameters).fit_transform(texts)


def test_a_table_is_refused_and_its_column_is_taken() -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"text": ["It works!", "A film"], "label": [1, 0]})

    with pytest.raises(ValueError, match=r"not a DataFrame, .*; give one column: table\['text'\]"):
        features().transform(table)

    assert features().transform(table["text"]).shape == (2, 32)


def test_clitics_numbers_and_punctuation_are_tokens() -> None:
    text = "It's John's, isn't it? We’ll “see”: 3.5 rock-n-roll, DON'T n'importe\n"

    sentences = features()._sentences(text, 0)

    assert [" ".join(tokens) for tokens in sentences] == [
        "It 's John 's , is n't it ?",
        "We ’ll “ see ” : 3.5 rock - n - roll , DO N'T n ' importe",
    ]


def zipped(folder: Path) -> Path:
    shutil.make_archive(str(folder), "zip", folder)
    return folder.with_suffix(".zip")


def archive_of_random_bilm(folder: Path) -> Path:
    config = {
        "dataset_reader": {"type": "elmo_sentences"},
        "train_data_path": str(ROOT / "fixtures" / "play.txt"),
        "model": {
            "type": "elmo_language_model",
            "bilm": {
                "options": json.loads((folder / "options.json").read_text()),
                "pretrained_file": str(folder / "weights.hdf5"),
                "requires_grad": True,
            },
            "num_samples": 3,
        },
    }
    return make_archive(folder / "training", config)


# What `ElmoFeatures` opens, made of a folder with the two files of a biLM.
DRESSES: dict[str, Callable[[Path], Path]] = {
    "folder": lambda folder: folder,
    "weights": lambda folder: folder / "weights.hdf5",
    "zip file": zipped,
    "archive": archive_of_random_bilm,
    "folder of a training": lambda folder: archive_of_random_bilm(folder).parent,
}


@pytest.mark.parametrize("dress", DRESSES)
def test_files_that_were_written_again_are_read_again(dress: str, tmp_path: Path) -> None:
    rows = []
    for seed in (0, 1):
        folder = random_files(tmp_path / "mine", seed)[0].parent
        bilm = DRESSES[dress](folder)

        rows.append(ElmoFeatures(str(bilm)).transform(["A boat left ."]))

        expected = ElmoEncoder.from_pretrained(bilm)(["A boat left ."])["default"]
        numpy.testing.assert_allclose(rows[-1], expected, atol=1e-6)
    assert numpy.abs(rows[0] - rows[1]).max() > 0.1


def test_a_mix_that_was_written_again_is_read_again_and_other_files_do_not_count(
    tmp_path: Path,
) -> None:
    folder = random_files(tmp_path / "mine")[0].parent
    features = ElmoFeatures(str(folder))
    before = features.transform(["A boat left ."])
    encoder = features._encoder()

    (folder / "out.log").write_text("A line")
    unchanged = features._encoder()
    write_mix(folder / MIX_FILE, ElmoMix(3, "last"))

    assert unchanged is encoder
    top = ElmoFeatures(str(folder), layers="last").transform(["A boat left ."])
    numpy.testing.assert_allclose(features.transform(["A boat left ."]), top, atol=1e-6)
    assert numpy.abs(top - before).max() > 0.1
