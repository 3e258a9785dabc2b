import argparse
import re
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from elmo_tasks import console
from elmo_tasks.commands.options import (
    MODELS,
    NAMED_BILMS,
    add_count,
    add_report,
    add_shared,
    deliver,
    device_of,
)
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.package_data import TRAINED
from elmo_tasks.elmo.locate import DEFAULT_BILM, KNOWN_BILMS
from elmo_tasks.kernels.frozen_product import DTYPES


def test_the_help_names_every_bilm_and_model_and_dtype() -> None:
    parser = argparse.ArgumentParser()
    add_shared(parser, "--dtype")

    assert set(re.findall(r"[\w.-]+", NAMED_BILMS)) - {"the", "default", "or"} == set(KNOWN_BILMS)
    assert NAMED_BILMS.startswith(f"{DEFAULT_BILM} (the default)")
    assert set(re.findall(r"\w+", MODELS)) - {"or"} == {*TRAINED}
    assert f"--dtype {{{','.join(DTYPES)}}}" in parser.format_help()


def test_a_count_is_at_least_one_and_its_help_has_the_default(
    capsys: pytest.CaptureFixture,
) -> None:
    parser = argparse.ArgumentParser()
    add_count(parser, "--jobs -j", 3, "runs at a time", "J")

    assert (parser.parse_args([]).jobs, parser.parse_args(["-j", "1"]).jobs) == (3, 1)
    assert "--jobs J, -j J  runs at a time (default: 3)" in parser.format_help()
    for text in ("0", "-1", "1.5", "²"):
        with pytest.raises(SystemExit, match="^2$"):
            parser.parse_args([f"--jobs={text}"])
        said = capsys.readouterr().err
        assert f"expected a whole number of at least 1, not '{text}'" in said


def test_a_gpu_that_is_not_there_is_refused() -> None:
    assert device_of(argparse.Namespace(cuda_device=-1)).type == "cpu"
    with pytest.raises(ConfigurationError, match="--cuda-device 99: PyTorch finds "):
        device_of(argparse.Namespace(cuda_device=99))


def test_a_misspelt_option_is_answered_with_the_right_one(capsys: pytest.CaptureFixture) -> None:
    with pytest.raises(SystemExit, match="^2$"):
        console._parse("predict", ["sst", "in.txt", "--ouput", "x"])

    assert "unrecognized arguments: --ouput x; did you mean '--output'?" in capsys.readouterr().err


def parse(*args: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_report(parser)
    return parser.parse_args(args)


def never() -> Figure:
    raise AssertionError("no chart was asked for")


@pytest.mark.parametrize(
    ("options", "text", "expected"),
    [
        ([], "a text", "a text\n"),
        ([], "a\x1b[2J\nb", "a\\x1b[2J\nb\n"),
        (["--json", "-"], "a text", '{\n  "word": "Zoë"\n}\n'),
    ],
)
def test_the_text_is_printed_without_control_characters_or_the_numbers_in_its_place(
    options: list[str], text: str, expected: str, capsys: pytest.CaptureFixture
) -> None:
    deliver(parse(*options), text, {"word": "Zoë"}, never)

    assert capsys.readouterr().out == expected


def test_a_picture_that_fails_leaves_no_file_and_the_text_was_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    with pytest.raises(AssertionError):
        deliver(parse("--chart", str(tmp_path / "chart.png")), "a text", {}, never)

    assert capsys.readouterr().out == "a text\n"
    assert list(tmp_path.iterdir()) == []
