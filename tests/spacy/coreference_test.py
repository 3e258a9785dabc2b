from typing import Any

import pytest
import spacy

import elmo_tasks.spacy  # noqa: F401  registers the components


def test_clusters_have_the_tokens_of_the_doc(monkeypatch: pytest.MonkeyPatch) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    component: Any = nlp.add_pipe("elmo_coref", config={"model": "not opened"})
    asked = []

    def predict(inputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
        asked.extend(inputs)
        return [{"clusters": [[{"tokens": [0, 2]}, {"tokens": [4, 5]}]]}]

    monkeypatch.setattr(component, "predict", predict)

    doc, empty = nlp.pipe(["The  boat sank. It was old.", " "])

    assert asked == [{"sentences": [["The", "boat", "sank", "."], ["It", "was", "old", "."]]}]
    spans = [[doc[start:end].text for start, end in cluster] for cluster in doc._.elmo_coref]
    assert spans == [["The  boat", "It"]]
    assert empty._.elmo_coref == []
