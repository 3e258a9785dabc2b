from pathlib import Path

import pytest
from allennlp.commands.train import train_model
from allennlp.common import Params

from tests.helpers.configs import tiny


def test_file_of_two_columns_is_trained_on_by_naming_them(tmp_path: Path) -> None:
    data = tmp_path / "ner.tsv"
    data.write_text(
        "Кит\tB-PER\nПетров\tI-PER\nв\tO\n北京\tB-LOC\n\nZoë\tB-PER\n", encoding="utf-8"
    )
    change = f"""{{
        columns: ['word', 'ner'], file_scheme: 'BIO', scheme: 'BIO', language: 'ru', min_count: 1,
        train_data_path: '{data}', validation_data_path: '{data}',
    }}"""

    model = train_model(Params(tiny("ner", "both", change)), str(tmp_path / "model"))

    tags = model.vocab.get_token_to_index_vocabulary("labels")
    assert set(tags) == {"O", "B-PER", "I-PER", "B-LOC", "I-LOC"}
    assert "петров" in model.vocab.get_token_to_index_vocabulary("tokens")


def test_type_that_only_the_validation_data_has_is_reported_with_file_and_line(
    tmp_path: Path,
) -> None:
    validation = tmp_path / "validation.txt"
    validation.write_text("The DT O O\neuro NN O I-CASH\n")
    params = tiny("ner", "baseline", f"{{ validation_data_path: '{validation}' }}")

    with pytest.raises(
        ValueError, match="validation.txt:2: the model does not know the tag U-CASH"
    ):
        train_model(Params(params), str(tmp_path / "model"))
