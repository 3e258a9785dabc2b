import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.outputs import check_outputs, inputs_in, paths_in


@contextmanager
def folder() -> Iterator[Path]:
    """Makes an empty folder the working directory."""
    before = os.getcwd()
    with TemporaryDirectory() as name:
        os.chdir(name)
        try:
            yield Path(name)
        finally:
            os.chdir(before)


def spelt(draw: Any, file: str) -> str:
    """Returns another name of a file in the working directory, by its path or by a link."""
    path = file
    for _ in range(draw(st.integers(0, 4))):
        way = draw(st.sampled_from(["link", "hard", "folder", "dots", "new", "absolute", "file"]))
        new = f"link{len(os.listdir())}"
        plain = os.path.abspath(path.removeprefix("file://"))
        if way == "link":
            os.symlink(plain, new)
            path = new
        elif way == "hard":
            os.link(plain, new)
            path = new
        elif way == "folder":
            where, name = os.path.split(plain)
            os.symlink(where, new)
            path = f"{new}/{name}"
        elif way == "absolute":
            path = plain
        elif way == "file":
            path = f"file://{plain}"
        elif not path.startswith(("file://", "/")):
            path = f"./data/../{path}" if way == "dots" else f"missing/.././{path}"
    return path


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_an_output_that_is_an_input_is_refused_by_whatever_name(data: st.DataObject) -> None:
    with folder():
        Path("data").mkdir()
        Path("data/text.txt").write_text("mine")
        Path("data/other.txt").write_text("mine")
        read, written = (spelt(data.draw, "data/text.txt") for _ in range(2))
        inputs = data.draw(st.permutations(["data/other.txt", read, "base", "-"]))
        force = data.draw(st.booleans())

        with pytest.raises(ConfigurationError, match="is an input"):
            check_outputs(["new.json", written], inputs, force)
        with pytest.raises(ConfigurationError, match="are the same file"):
            check_outputs([read, written], [], force=True)
        # Another file is none of the inputs.
        check_outputs(["data/new.txt", None], inputs, force, folders=["data/new"])


@settings(max_examples=50, deadline=None)
@given(data=st.data())
def test_a_folder_with_an_input_is_refused_by_whatever_name(data: st.DataObject) -> None:
    with folder():
        Path("data/deep").mkdir(parents=True)
        Path("data/deep/text.txt").write_text("mine")
        read = spelt(data.draw, "data/deep/text.txt")
        if os.stat("data/deep/text.txt").st_nlink > 1:
            # A hard link is in a folder of its own.
            read = "data/deep/text.txt"
        written = data.draw(st.sampled_from([".", "data", "./data/deep", "data/deep/../../data"]))

        with pytest.raises(ConfigurationError, match="input"):
            check_outputs([], [read], folders=[written])


def test_an_output_that_exists_is_replaced_only_with_force(tmp_path: Path) -> None:
    for name in ("file", "folder"):
        (tmp_path / name).mkdir() if name == "folder" else (tmp_path / name).touch()
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")

    for name in ("file", "dangling"):
        with pytest.raises(ConfigurationError, match=f"{name} exists"):
            check_outputs([tmp_path / name])
        check_outputs([tmp_path / name], force=True)
    with pytest.raises(ConfigurationError, match="folder is a folder: give the name of a file"):
        check_outputs([tmp_path / "folder"], force=True)


def test_all_inputs_are_compared_before_an_output_is_said_to_exist(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    (tmp_path / "b").touch()

    with pytest.raises(ConfigurationError, match="b is an input"):
        check_outputs([tmp_path / "a", tmp_path / "b"], [tmp_path / "b"])


def test_devices_and_pipes_may_be_written_to(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    check_outputs(["/dev/null", "/dev/null", "/dev/stdout", tmp_path / "pipe"], ["/dev/null"])


def test_a_pattern_stands_for_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.txt", "b.txt", "c[1].txt", "c1.txt", "d.tsv"):
        Path(name).touch()

    with pytest.raises(ConfigurationError, match=r"b.txt is an input: choose another output"):
        check_outputs(["b.txt"], ["*.txt"], force=True)
    # The path of an existing file is no pattern.
    with pytest.raises(ConfigurationError, match=r"is an input"):
        check_outputs(["c[1].txt"], ["c[1].txt"], force=True)
    check_outputs(["c1.txt"], ["c[1].txt"], force=True)
    check_outputs(["d.tsv"], ["*.txt", "*"[:0]], force=True)


# An output, and whether the folder of a model would lose by it.
IN_MODEL = {
    "model/model.tar.gz": True,
    "model/./best.th": True,
    "model/new/../weights.th": True,
    "model/vocabulary/tokens.txt": True,
    "model/config.json": True,
    "model/mix.json": True,
    "model": True,
    ".": True,
    "model/dev.json": False,
    "model/answers/config.json": False,
    "other/config.json": False,
}


@pytest.mark.parametrize("output", IN_MODEL)
def test_the_files_of_a_model_are_inputs_and_others_in_its_folder_are_not(
    output: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("model/vocabulary").mkdir(parents=True)
    Path("other").mkdir()
    for name in ("config.json", "best.th", "dev.json"):
        Path("model", name).write_text("mine")
    os.link("model/best.th", "hard.th")
    os.symlink("model", "link")

    if not IN_MODEL[output]:
        check_outputs([output], ["link"], force=True)
        return
    with pytest.raises(ConfigurationError, match="is an input|of the input|with the input"):
        check_outputs([output], ["link"], force=True)
    with pytest.raises(ConfigurationError, match="hard.th is an input"):
        check_outputs(["hard.th"], ["model"], force=True)
    # A link in the folder is replaced itself.
    os.symlink(tmp_path / "elsewhere", "model/weights.hdf5")
    with pytest.raises(ConfigurationError, match="is a file of the input model"):
        check_outputs(["model/weights.hdf5"], ["model"], force=True)


def test_addresses_are_compared_as_names() -> None:
    inputs = ["s3://bucket/texts/*.gz", "gs://b/a.txt", "https://host/a.txt"]

    check_outputs([], inputs, folders=["s3://bucket/vectors", "gs://b/vectors"])
    for output in ("s3://bucket", "s3a://bucket/texts/", "gcs://b/./a.txt"):
        with pytest.raises(ConfigurationError, match="is an input|with the input"):
            check_outputs([], inputs, folders=[output])


def test_the_standard_input_from_a_file_is_an_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = tmp_path / "text.txt"
    text.write_text("mine")
    before = os.dup(0)
    try:
        with open(text) as file:
            os.dup2(file.fileno(), 0)
        with pytest.raises(ConfigurationError, match=r"text.txt is an input \(-\)"):
            check_outputs([text], ["-"], force=True)
    finally:
        os.dup2(before, 0)
        os.close(before)


@pytest.mark.skipif(sys.platform not in ("darwin", "win32"), reason="names differ by case here")
def test_names_that_differ_by_case_are_one_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="are the same file"):
        check_outputs([tmp_path / "new.json", tmp_path / "NEW.json"])


def test_the_paths_in_a_config_are_found(tmp_path: Path) -> None:
    config = {
        "train_data_path": "a.txt, b.txt",
        "model": {"files": ["(c.zip)#d.txt", 3, None], "archive": "e.tar.gz!weights.th"},
    }

    assert {"a.txt", "b.txt", "c.zip", "e.tar.gz"} <= set(paths_in(config))
    assert inputs_in(tmp_path, paths_in(config)) == []
    (tmp_path / "e.tar.gz").touch()
    assert inputs_in(tmp_path, [f"{tmp_path}/e.tar.gz", str(tmp_path.parent)]) == [
        f"{tmp_path}/e.tar.gz"
    ]


def test_the_sign_of_the_standard_input_is_no_output() -> None:
    with pytest.raises(ConfigurationError, match="- is no name of an output: choose a file"):
        check_outputs(["-"])
    check_outputs(["./-"])


@pytest.mark.parametrize("name", ["answers.csv.bz2", "report.json.ZIP", "s3://b/vectors.zst"])
def test_a_name_of_a_compression_that_is_not_written_is_refused(name: str) -> None:
    with pytest.raises(ConfigurationError, match=f"{name}: no file is written as .* in .gz or .xz"):
        check_outputs([name], force=True)
