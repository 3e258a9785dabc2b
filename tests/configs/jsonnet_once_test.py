"""Tests that what the tests remember of jsonnet is what jsonnet would say again."""

from pathlib import Path

import _jsonnet
import pytest


def test_a_config_is_evaluated_anew_when_it_or_what_it_imports_has_changed(tmp_path: Path) -> None:
    config, imported = tmp_path / "config.jsonnet", tmp_path / "lib.libsonnet"
    config.write_text("(import 'lib.libsonnet') { b: 2 }")
    results = []

    for text in ("{ a: 1 }", "{ a: 1 }", "{ a: 3 }"):
        imported.write_text(text)
        results.append("".join(_jsonnet.evaluate_file(str(config)).split()))
    config.write_text("{ c: 4 }")
    results.append("".join(_jsonnet.evaluate_file(str(config)).split()))

    assert results == ['{"a":1,"b":2}', '{"a":1,"b":2}', '{"a":3,"b":2}', '{"c":4}']
    config.unlink()
    with pytest.raises(RuntimeError, match="config.jsonnet: No such file"):
        _jsonnet.evaluate_file(str(config))


def test_a_relative_import_is_of_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "lib.libsonnet").write_text(f"'{name}'")
        monkeypatch.chdir(tmp_path / name)

        assert _jsonnet.evaluate_snippet("", "import 'lib.libsonnet'") == f'"{name}"\n'


def test_a_function_of_python_is_called_each_time() -> None:
    answers = iter("ab")
    native = {"next": (("path",), lambda path: path + next(answers))}
    text = "std.native('next')('x')"

    found = [_jsonnet.evaluate_snippet("", text, native_callbacks=native) for _ in range(2)]

    assert found == ['"xa"\n', '"xb"\n']
    with pytest.raises(RuntimeError):
        _jsonnet.evaluate_snippet("", text)
