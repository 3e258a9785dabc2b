from spacy.language import Language
from spacy.tokens import Doc

from elmo_tasks.common.errors import check_choice
from elmo_tasks.spacy.pipes import ModelPipe, of_docs

# The attributes of a token that can be set to a tag.
_ATTRIBUTES = ("tag", "pos", "morph", "lemma")


@Language.factory("elmo_tagger", assigns=["token.tag"], default_config={"attribute": "tag"})
class TaggerComponent(ModelPipe):
    """
    Sets an attribute of each token, such as `token.tag_`, to the tag that your own model predicts.
    A doc without sentence boundaries is one sentence.

    Registered as a factory with the name "elmo_tagger".

    # Parameters

    nlp, name, model: As for `ModelPipe`. The model is a trained `elmo_tagger`.
    attribute (default `'tag'`): `tag`, `pos` (for universal POS tags), `morph` or `lemma`.
    """

    predictor = "elmo_tag"

    def __init__(self, nlp: Language, name: str, model: str, attribute: str = "tag") -> None:
        super().__init__(nlp, name, model)
        check_choice("attribute", attribute, _ATTRIBUTES)
        self.attribute = attribute

    def annotate(self, docs: list[Doc]) -> None:
        for doc_index, indices, answer in self.answers(of_docs(docs)):
            for token_index, tag in zip(indices, answer["tags"]):
                token = docs[doc_index][token_index]
                if self.attribute == "morph":
                    token.set_morph(tag)
                else:
                    setattr(token, f"{self.attribute}_", tag)
