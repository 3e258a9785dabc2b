from pathlib import Path

import httpx
from allennlp.models import load_archive

from elmo_tasks.serve.served_model import ServedModel
from tests.helpers.archives import language_model
from tests.helpers.served import app_of, running


def test_a_model_without_a_tab_of_its_task_is_asked_in_json(tmp_path: Path) -> None:
    model = ServedModel("a/lm", load_archive(str(language_model(tmp_path))))

    about = model.describe()
    with running(app_of([model])) as address:
        sentence = {"sentence": "the dog saw a cat"}
        answer = httpx.post(f"{address}/predict/a/lm", json=sentence).json()

    assert about["drawing"] is None and about["fields"] == ("sentence",) and about["mixes"] == []
    assert answer["tokens"] == sentence["sentence"].split()
