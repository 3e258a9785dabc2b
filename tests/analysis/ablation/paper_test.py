import pytest

from elmo_tasks.analysis.ablation.paper import published


def test_the_gain_of_the_paper_is_that_of_its_two_numbers() -> None:
    # Table 1 has the gains over the baseline, too. Figure 1 shows the dev data.
    for task, variant, gain in (
        ("sst", "both", 3.3),
        ("snli", "both", 1.4),
        ("squad", "both", 4.8),
        ("srl", "input", 3.1),
    ):
        baseline, elmo = published(task, "baseline"), published(task, variant)

        assert baseline is not None and elmo is not None
        assert elmo.value - baseline.value == pytest.approx(gain)


def test_a_result_names_its_data_and_its_source() -> None:
    assert str(published("snli", "both", 0.01)) == "74.8 (dev accuracy, Figure 1)"
    assert str(published("srl", "input", 0.1)) == "76.4 (dev F1, Figure 1)"
    assert published("sst", "both", 0.01) is None
    assert published("own", "both") is None


def test_the_variant_paper_has_the_result_with_the_released_bilm() -> None:
    # Supplement A.1: continuing the biLM on SNLI's text took the dev accuracy from 88.9 to 89.5.
    assert str(published("snli", "paper")) == "88.9 (dev accuracy, supplement A.1)"
    assert str(published("snli", "both")) == "89.5 (dev accuracy, Table 3)"
    assert published("snli", "paper", 0.01) is None
    assert published("squad", "paper") is None
