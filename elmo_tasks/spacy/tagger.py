from spacy.language import Language
from spacy.tokens import Doc

from elmo_tasks.spacy.pipes import ModelPipe, of_docs


@Language.factory("elmo_tagger", assigns=["token.tag"])
class TaggerComponent(ModelPipe):
    """
    Sets `token.tag_` of each token to the tag that your own model predicts. A doc without sentence
    boundaries is one sentence.

    Registered as a factory with the name "elmo_tagger": a `ModelPipe` with a trained `elmo_tagger`.
    """

    predictor = "elmo_tag"

    def annotate(self, docs: list[Doc]) -> None:
        for doc_index, indices, answer in self.answers(of_docs(docs)):
            for token_index, tag in zip(indices, answer["tags"]):
                docs[doc_index][token_index].tag_ = tag
