from spacy.language import Language
from spacy.tokens import Doc

from elmo_tasks.spacy.pipes import ModelPipe, of_docs

Doc.set_extension("elmo_srl", default=None, force=True)


@Language.factory("elmo_srl", assigns=["doc._.elmo_srl"])
class RolesComponent(ModelPipe):
    """
    Sets `doc._.elmo_srl` to a list of dictionaries, one for each predicate of the doc: `predicate`
    is the index of its token, and `roles` are its semantic roles. A role has a `role`, the `start`
    and the exclusive `end` of its tokens in the doc, and a `confidence`. A doc without sentence
    boundaries is one sentence.

    Registered as a factory with the name "elmo_srl": a `ModelPipe` with an `elmo_srl_tagger`.
    """

    predictor = "elmo_srl"

    def annotate(self, docs: list[Doc]) -> None:
        for doc in docs:
            doc._.elmo_srl = []
        for doc_index, indices, answer in self.answers(of_docs(docs)):
            docs[doc_index]._.elmo_srl += [
                {
                    "predicate": indices[predicate["index"]],
                    "roles": [
                        {
                            "role": each["role"],
                            "start": indices[each["tokens"][0]],
                            "end": indices[each["tokens"][1] - 1] + 1,
                            "confidence": each["confidence"],
                        }
                        for each in predicate["roles"]
                    ],
                }
                for predicate in answer["predicates"]
            ]
