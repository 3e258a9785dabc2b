"""From a user's file to a model and its answers."""

import csv
import io
import json
import shutil
import subprocess
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from elmo_tasks.commands.own_data.split import result_lines
from elmo_tasks.common.package_data import config_folder
from elmo_tasks.training.config_names import read_config
from tests.helpers.command_line import our_command
from tests.helpers.configs import FIXTURE_BILM, ROOT, evaluate
from tests.helpers.training import train

FOODS = ["Käse", "naïve Suppe", "a „plum“ cake", 'bread, "fresh"; warm', "tea"]
ROWS = [
    (f"{'Great' if n % 2 else 'Awful'} {food}, {n}!", "gut" if n % 2 else "schlecht")
    for n, food in enumerate(FOODS * 4)
]


def table(delimiter: str = ",") -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter).writerows([("Text", "Label"), *ROWS])
    return text.getvalue()


def excel(path: Path) -> None:
    book = pytest.importorskip("openpyxl").Workbook()
    for row in [("Text", "Label"), *ROWS]:
        book.active.append(row)
    book.save(path)


def latin_1(path: Path) -> None:
    """Writes a table in Latin-1, and runs the command that the refusal of it names."""
    path.write_bytes(table(";").replace("„", '""').replace("“", '""').encode("latin-1"))
    with pytest.raises(ValueError, match="reviews.csv:2: not UTF-8") as refused:
        our_command("new", "classify", path)
    command = str(refused.value).partition("convert it: ")[2]
    subprocess.run(command, shell=True, check=True, cwd=path.parent)
    path.with_name("NEW").replace(path)


DISGUISES: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "plain": ("reviews.csv", lambda path: path.write_text(table(), encoding="utf-8")),
    "semicolons": ("reviews.csv", lambda path: path.write_text(table(";"), encoding="utf-8")),
    "tabs": ("reviews.csv", lambda path: path.write_text(table("\t"), encoding="utf-8")),
    "Latin-1": ("reviews.csv", latin_1),
    "UTF-16": ("reviews.csv", lambda path: path.write_text(table("\t"), encoding="utf-16")),
    "BOM": ("reviews.csv", lambda path: path.write_text(table(";"), encoding="utf-8-sig")),
    "Excel": ("reviews.xlsx", excel),
}


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of the plain file."""
    folder = tmp_path_factory.mktemp("model")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        Path("reviews.csv").write_text(table(), encoding="utf-8")
        our_command("new", "classify", Path("reviews.csv"))
        text = (
            Path("reviews.jsonnet").read_text().replace("'elmo_tasks/", f"'{config_folder()}/lib/")
        )
    config = evaluate(f"{text} + {{ bilm:: {FIXTURE_BILM}, hidden_dim:: 8, store:: null }}")
    # The page shows two rows of the part for validation.
    dev = map(json.loads, (folder / "reviews" / "dev.jsonl").read_text().splitlines())
    assert config["dataset_reader"]["examples"] == [{"Text": row["Text"]} for row in islice(dev, 2)]
    config["trainer"]["num_epochs"] = 2
    for name in ("train_data_path", "validation_data_path"):
        config[name] = str(folder / config[name])
    train(config, folder / "run")
    lines = result_lines(config, folder / "run")
    assert f"on the 4 rows of {folder}/reviews/dev.jsonl that also chose the epoch" in lines[0]
    del config["trainer"]["validation_metric"]
    assert not result_lines(config, folder / "run")  # Nothing says which score to print.
    return folder / "run" / "model.tar.gz"


@pytest.mark.parametrize("disguise", DISGUISES)
def test_a_table_in_any_disguise_comes_to_answers(
    disguise: str,
    model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture,
) -> None:
    name, write = DISGUISES[disguise]
    path = tmp_path / name
    write(path)

    our_command("new", "classify", path)

    said = capsys.readouterr().out
    assert "texts in Text" in said and "labels in Label: schlecht (10), gut (10)." in said
    assert "With 20 rows, TF-IDF beside `base` is usually as good, in seconds: docs/sklearn" in said
    assert "--folds 5" in said.splitlines()[-1] and "--folds" not in said.splitlines()[-2]
    parts = [
        json.loads(line)
        for part in ("dev", "train")
        for line in Path(f"reviews/{part}.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert len(parts) == 20 and parts[0].keys() == {"Text", "Label"}
    answers = tmp_path / "answers.jsonl"
    # The model names the biLM of the fixtures.
    monkeypatch.chdir(ROOT)
    our_command("predict", model, path, "--jsonl", "--output-file", answers)
    labels = [json.loads(line)["Label"] for line in answers.read_text().splitlines()]
    assert labels == [label for _, label in ROWS]
    if disguise != "Latin-1":
        written = {row["Text"]: row["Label"] for row in parts}
        assert written == dict(ROWS)


def rows(*values: tuple[str, ...], name: str = "data.csv") -> Path:
    with open(name, "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(values)
    return Path(name)


def test_what_is_left_out_is_said(capsys: pytest.CaptureFixture) -> None:
    some = [(str(n), "Soup.", "Tea?", "ab"[n % 2]) for n in range(20)]
    path = rows(
        ("id", "first", "second", "answer"), *some, ("20", " ", "Tea.", "a"), ("21", "x", "y", "aa")
    )

    our_command("new", "classify", path)

    said = capsys.readouterr().out
    assert "texts in first and second" in said and "answer: a (10), b (10), aa (1)." in said
    assert "Columns that are not used: id. Choose others with --text NAME" in said
    assert "Left out: 1 row without a text (line 22)." in said
    assert "Labels that occur once, perhaps by a slip: 'aa'." in said
    assert "GloVe would help, but data/vectors/" in said


def test_a_table_without_a_header_has_numbers_for_columns() -> None:
    path = rows(*[(f"Soup {n}.", "ab"[n % 2]) for n in range(20)])

    with pytest.raises(ValueError, match="or give --no-header"):
        our_command("new", "classify", path)
    our_command("new", "classify", path, "--no-header", "--text", "1", "--label", "2")

    assert "texts: ['1']" in Path("data.jsonnet").read_text()
    assert json.loads(Path("data/dev.jsonl").read_text().splitlines()[0]).keys() == {"1", "2"}
    with pytest.raises(ValueError, match="--dev needs a header in both files"):
        our_command("new", "classify", path, "--no-header", "--dev", path, "--force")


def test_a_label_of_two_lines_leaves_the_config_as_it_should_be(
    capsys: pytest.CaptureFixture,
) -> None:
    our_command("new", "classify", rows(("text", "label"), *[("Tea.", "a\nb"), ("Pie.", "c")] * 10))

    assert r"labels in label: a\nb (10), c (10)." in capsys.readouterr().out
    assert read_config("data.jsonnet")["train_data_path"] == "data/train.jsonl"


def test_what_is_there_is_replaced_only_with_force() -> None:
    path = rows(("text", "label"), *[(f"Soup {n}.", "ab"[n % 2]) for n in range(20)])
    our_command("new", "classify", path)
    (Path("data") / "left.txt").touch()

    with pytest.raises(ValueError, match="data.jsonnet exists"):
        our_command("new", "classify", path)
    shutil.move("data.jsonnet", "before.jsonnet")
    with pytest.raises(ValueError, match="data/train.jsonl exists"):
        our_command("new", "classify", path)
    Path("data/dev.jsonl").write_text("mine")
    our_command("new", "classify", path, "--force")

    assert {each.name for each in Path("data").iterdir()} == {
        "train.jsonl",
        "dev.jsonl",
        "left.txt",
    }
    assert Path("data/dev.jsonl").read_text() != "mine"
    assert Path("before.jsonnet").read_text() == Path("data.jsonnet").read_text()


def test_data_in_the_folder_of_their_parts_are_never_removed() -> None:
    Path("data").mkdir()
    path = rows(
        ("text", "label"), *[("Soup.", "ab"[n % 2]) for n in range(20)], name="data/data.csv"
    )
    before = path.read_bytes()

    for options in ([], ["--force"]):
        with pytest.raises(ValueError, match="data is a folder with the input data/data.csv in it"):
            our_command("new", "classify", path, *options)

    assert path.read_bytes() == before and not Path("data.jsonnet").exists()


# The rows, and words of the message.
REFUSED: list[tuple[list[tuple[str, ...]], str]] = [
    (
        [("Soup.", "a"), ("Tea.", "")],
        r"the label 'a' .* \(1 row without a label \(line 3\) left out",
    ),
    ([("Soup.", "a")] * 20, "only the label 'a' in the column label; a model needs two or more"),
    ([("Soup.", "ab"[n % 2]) for n in range(9)], "has 9 examples; a training run needs 10 or more"),
    ([("Soup.", "ab"[n % 2]) for n in range(10)], "has the same text in each of its 10 examples"),
    ([], "data.csv has no row"),
]


def test_what_is_read_as_a_text_and_as_labels_is_what_training_reads(
    capsys: pytest.CaptureFixture,
) -> None:
    values = [{"text": f"Soup {n}.", "label": ["a", "b"][: n % 3]} for n in range(12)]
    Path("data.jsonl").write_text("\n".join(map(json.dumps, values)))
    our_command("new", "classify", "data.jsonl")
    said = "may have any number of labels: 4 have none, and 4 have several."
    assert said in capsys.readouterr().out

    lists = [{**value, "text": ["Soup", str(n)]} for n, value in enumerate(values)]
    Path("lists.jsonl").write_text("\n".join(map(json.dumps, lists)))
    with pytest.raises(ValueError, match="lists.jsonl:1: text must be text, not "):
        our_command("new", "classify", "lists.jsonl")


def test_what_is_wrong_with_the_validation_data_is_said(capsys: pytest.CaptureFixture) -> None:
    path = rows(("text", "label"), *[(f"Soup {n}.", "ab"[n % 2]) for n in range(12)])
    dev = rows(("text", "label"), ("Soup 1.", "b"), ("Tea.", "a"), name="dev.csv")
    our_command("new", "classify", path, "--dev", dev)
    assert "Of the 2 texts of dev.csv, 1 are in data.csv, too: " in capsys.readouterr().out

    rows(("text", "label"), ("Tea.", "a"), ("Pie.", "c"), name="dev.csv")
    with pytest.raises(ValueError, match="dev.csv has labels that data.csv lacks: c"):
        our_command("new", "classify", path, "--dev", dev, "--force")


@pytest.mark.parametrize(("values", "words"), REFUSED)
def test_data_for_no_model_are_refused(values: list[tuple[str, ...]], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        our_command("new", "classify", rows(("text", "label"), *values))

    assert not Path("data").exists() and not Path("data.jsonnet").exists()
