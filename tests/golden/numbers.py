"""How golden values are written, and how they are compared."""

from typing import Any

import numpy
import pytest

DIGITS = 6


def round_numbers(value: Any) -> Any:
    """Returns JSON, in which numbers have six digits."""
    if isinstance(value, dict):
        return {str(key): round_numbers(child) for key, child in value.items()}
    if isinstance(value, list | tuple):
        return [round_numbers(child) for child in value]
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def summary(values: Any, most: int = 60) -> dict[str, Any]:
    """Returns the shape, mean and norm of an array, and `most` of its numbers, evenly spaced."""
    flat = numpy.asarray(values, dtype="float64").ravel()
    step = max(1, -(-flat.size // most))
    return {
        "shape": list(numpy.shape(values)),
        "mean": float(flat.mean()) if flat.size else 0.0,
        "norm": float(numpy.linalg.norm(flat)),
        f"every {step}th": flat[::step].tolist(),
    }


def assert_close(found: Any, golden: Any, tolerance: dict[str, float], where: str = "") -> None:
    """
    Compares a value with a golden one. An object may have further fields; numbers may differ by
    the tolerance, which has `rel` and `abs`.
    """
    if isinstance(golden, dict):
        assert isinstance(found, dict) and found.keys() >= golden.keys(), where
        for key, value in golden.items():
            assert_close(found[key], value, tolerance, f"{where}.{key}")
    elif isinstance(golden, list):
        assert isinstance(found, list) and len(found) == len(golden), where
        for index, (one, other) in enumerate(zip(found, golden)):
            assert_close(one, other, tolerance, f"{where}[{index}]")
    elif isinstance(golden, float):
        assert found == pytest.approx(golden, rel=tolerance["rel"], abs=tolerance["abs"]), where
    else:
        assert found == golden, where
