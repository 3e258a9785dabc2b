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


@pytest.mark.parametrize(
    ("task", "variant", "fraction", "shown"),
    [
        ("snli", "both", 0.01, "74.8 (dev accuracy, Figure 1)"),
        ("srl", "input", 0.1, "76.4 (dev F1, Figure 1)"),
        # Supplement A.1: continuing the biLM on SNLI's text took this from 88.9 to 89.5.
        ("snli", "paper", 1.0, "88.9 (dev accuracy, supplement A.1)"),
        ("snli", "both", 1.0, "89.5 (dev accuracy, Table 3)"),
        ("ner", "input", 1.0, "92.22 ± 0.1 (test F1, Table 1)"),
        ("sst", "paper_baseline", 1.0, "51.4 (test accuracy, Table 1)"),
        ("sst", "both", 0.01, "None"),
        ("snli", "paper", 0.01, "None"),
        ("squad", "paper", 1.0, "None"),
        ("own", "both", 1.0, "None"),
    ],
)
def test_a_result_names_its_data_and_its_source(
    task: str, variant: str, fraction: float, shown: str
) -> None:
    assert str(published(task, variant, fraction)) == shown
