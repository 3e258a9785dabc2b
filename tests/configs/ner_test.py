from pathlib import Path

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
