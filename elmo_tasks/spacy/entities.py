from spacy.language import Language
from spacy.tokens import Doc, Span

from elmo_tasks.spacy.pipes import ModelPipe, of_docs

Span.set_extension("elmo_confidence", default=None, force=True)


@Language.factory("elmo_ner", assigns=["doc.ents", "token.ent_iob", "token.ent_type"])
class EntityComponent(ModelPipe):
    """
    Replaces `doc.ents` with the entities that a trained tagger finds in each sentence.
    `ent._.elmo_confidence` is the marginal probability that exactly these tokens are an entity of
    this type. A doc without sentence boundaries is one sentence.

    Registered as a factory with the name "elmo_ner": a `ModelPipe` with an `elmo_crf_tagger`.
    """

    predictor = "elmo_ner"

    def annotate(self, docs: list[Doc]) -> None:
        found: list[list[Span]] = [[] for _ in docs]
        for doc_index, indices, answer in self.answers(of_docs(docs)):
            for entity in answer["entities"]:
                start, end = entity["tokens"]
                span = Span(docs[doc_index], indices[start], indices[end - 1] + 1, entity["type"])
                span._.elmo_confidence = entity["confidence"]
                found[doc_index].append(span)
        for doc, spans in zip(docs, found):
            doc.set_ents(spans)
