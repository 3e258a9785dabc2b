"""
What `scripts/try_install.py` runs in a new environment, in an empty folder: the checks of each size
of the package. A check is a function; add it to `CHECKS`. The checks of a size run in one process,
because AllenNLP takes long to import. Prints a line of JSON for each check.

    python installed_checks.py core|source|extras|plugin
"""

import contextlib
import importlib.util
import io
import json
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

SENTENCES = ["The boat left the bank .", "Banks lend money ."]
# The largest difference of a vector from that of `ElmoEncoder`.
TOLERANCE = 1e-5


def elmo_encoder() -> None:
    from elmo_tasks import ElmoEncoder

    elmo = ElmoEncoder.from_pretrained("mini")(SENTENCES)["elmo"]

    assert elmo.shape == (2, 6, 256), elmo.shape
    assert elmo.isfinite().all()
    assert "allennlp" not in sys.modules


def has_compiled_functions() -> bool:
    import torch

    from elmo_tasks.kernels.compiled import kernels

    return kernels("cpu", torch.float32) is not None


def compiled_functions_are_there() -> None:
    assert has_compiled_functions()


def compiled_functions_are_missing() -> None:
    assert not has_compiled_functions()


def command_embed() -> None:
    import h5py

    from elmo_tasks import ElmoEncoder

    Path("text.txt").write_text("\n".join(SENTENCES) + "\n")
    elmo_tasks("embed", "text.txt", "text.hdf5", "--average", "--bilm", "mini")

    elmo = ElmoEncoder.from_pretrained("mini")(SENTENCES)["elmo"]
    with h5py.File("text.hdf5") as file:
        for index, sentence in enumerate(SENTENCES):
            expected = elmo[index, : len(sentence.split())].numpy()
            assert abs(file[str(index)][...] - expected).max() < TOLERANCE


def models_say_how_to_get_them() -> None:
    for name in ("base", "ner"):
        output = elmo_tasks("embed", "text.txt", "x.hdf5", "--bilm", name, status=1)
        assert "pip install 'elmo-tasks[models]'" in output, output


def models_are_there() -> None:
    from elmo_tasks import ElmoEncoder
    from elmo_tasks.elmo.locate import locate_bilm

    assert "elmo_tasks_models" in str(locate_bilm("base").options)
    assert ElmoEncoder.from_pretrained()(SENTENCES)["elmo"].isfinite().all()


def trained_models() -> None:
    """Asks each trained model, and reads what it says of its data at its first use."""
    import elmo_tasks

    output = io.StringIO()
    with contextlib.redirect_stderr(output):
        for name in ("sst", "ner", "srl", "coref", "sst"):
            assert elmo_tasks.load(name).predict("Ann Smith lives in Paris.")
        assert elmo_tasks.load("snli").predict(premise="A man eats.", hypothesis="He sits.")
        assert elmo_tasks.load("squad").predict(passage="Ann sees Bob.", question="Who?")

    learnt_lines = [line for line in output.getvalue().splitlines() if " was learnt from " in line]
    assert [line.split()[0] for line in learnt_lines] == ["sst", "ner", "coref"], output.getvalue()


def command_check() -> None:
    from elmo_tasks.elmo.locate import locate_bilm

    assert "Sound." in elmo_tasks("check", *map(str, locate_bilm("mini").files))


def plugin_says_what_is_missing() -> None:
    if importlib.util.find_spec("allennlp") is None:
        assert "pip install" in elmo_tasks("train", "elmo_tasks:sst/both", "-s", "x", status=1)


def spacy_pipeline() -> None:
    import spacy

    nlp = spacy.blank("en")
    nlp.add_pipe("elmo", config={"bilm": "mini"})
    doc = nlp(SENTENCES[0])

    from elmo_tasks import ElmoEncoder

    expected = ElmoEncoder.from_pretrained("mini")(SENTENCES)["elmo"][0].numpy()
    assert abs(doc._.elmo - expected).max() < TOLERANCE


def scikit_learn_pipeline() -> None:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    from elmo_tasks.sklearn import ElmoFeatures

    texts = ["A very good film .", "A good film .", "A very bad film .", "A bad film ."]
    pipeline = make_pipeline(ElmoFeatures(), LogisticRegression(C=100)).fit(texts, [1, 1, 0, 0])

    assert list(pipeline.predict(texts)) == [1, 1, 0, 0]


def configs_by_name() -> None:
    from elmo_tasks.training.config_names import read_config

    assert read_config("elmo_tasks:sst/both")["train_data_path"] == "data/sst/train.txt"


def train_and_predict() -> None:
    """Trains by a config of its own and the console script, and predicts with the model."""
    trees = [
        "(3 (2 A) (3 (3 (3 very) (3 good)) (3 (2 film) (2 .))))",
        "(1 (2 A) (1 (1 (1 very) (1 bad)) (1 (2 film) (2 .))))",
    ]
    Path("sst.txt").write_text("\n".join(trees * 6) + "\n")
    Path("sst.jsonnet").write_text(
        "(import 'elmo_tasks/sst.libsonnet') + {\n"
        "  train_data_path: 'sst.txt', validation_data_path: 'sst.txt',\n"
        "  elmo_at: ['input', 'output'], hidden_dim: 4, trainer+: { num_epochs: 1 },\n}\n"
    )
    output = elmo_tasks("train", "sst.jsonnet", "-s", "runs/sst")
    Path("in.txt").write_text("A good film .\n")
    answer = elmo_tasks("predict", "runs/sst", "in.txt")

    assert "epoch 1 of 1: " in output and "runs/sst/model.tar.gz" in output, output
    assert "A good film ." in answer, answer


CHECKS: dict[str, list[Callable]] = {
    "core": [
        *(elmo_encoder, compiled_functions_are_there, command_embed, command_check),
        *(models_say_how_to_get_them, plugin_says_what_is_missing),
    ],
    "source": [elmo_encoder, compiled_functions_are_missing],
    "extras": [models_are_there, spacy_pipeline, scikit_learn_pipeline],
    "plugin": [trained_models, configs_by_name, train_and_predict],
}


def elmo_tasks(*arguments: str, status: int = 0) -> str:
    """Runs the console script of this environment, and returns all that it printed."""
    script = Path(sys.executable).with_name("elmo-tasks")
    result = subprocess.run(
        [script, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert result.returncode == status, result.stdout
    return result.stdout


def main() -> None:
    for check in CHECKS[sys.argv[1]]:
        began = time.monotonic()
        try:
            check()
            error = None
        except BaseException as raised:
            traceback.print_exc()
            error = f"{type(raised).__name__}: {raised}"
        seconds = round(time.monotonic() - began, 1)
        result = {"check": check.__name__, "seconds": seconds, "error": error}
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
