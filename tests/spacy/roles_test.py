from typing import Any

import pytest
import spacy

import elmo_tasks.spacy  # noqa: F401  registers the components
from elmo_tasks.spacy.roles import RolesComponent


def test_roles_have_the_tokens_of_the_doc_in_the_order_of_the_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    component: Any = nlp.add_pipe("elmo_srl", config={"model": "not opened"})
    assert isinstance(component, RolesComponent)

    def roles(*tokens: int) -> dict[str, Any]:
        return {"role": "ARG1", "tokens": list(tokens), "confidence": 0.5, "text": ""}

    # The longer sentence is answered first.
    found = [
        (1, {"predicates": [{"index": 1, "roles": [roles(2, 5)]}]}),
        (0, {"predicates": [{"index": 1, "roles": [roles(0, 1)]}]}),
    ]
    monkeypatch.setattr(component, "answers", lambda sentences: iter(found))

    doc, empty = nlp.pipe(["Rain  fell. Marta broke two old windows.", ""])

    expected = [("fell", "Rain"), ("broke", "two old windows")]
    assert [
        (doc[each["predicate"]].text, doc[role["start"] : role["end"]].text)
        for each in doc._.elmo_srl
        for role in each["roles"]
    ] == expected
    assert empty._.elmo_srl == []
