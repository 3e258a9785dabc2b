from itertools import groupby

from spacy.language import Language
from spacy.tokens import Doc

from elmo_tasks.spacy.pipes import ModelPipe, of_docs

Doc.set_extension("elmo_coref", default=None, force=True)


@Language.factory("elmo_coref", assigns=["doc._.elmo_coref"])
class CoreferenceComponent(ModelPipe):
    """
    Sets `doc._.elmo_coref` to the clusters of mentions that refer to the same thing. A cluster is a
    list of pairs: the start and the exclusive end of a mention's tokens in the doc. Its spans are
    `[doc[start:end] for start, end in cluster]`. A doc without sentence boundaries is one sentence.

    Registered as a factory with the name "elmo_coref": a `ModelPipe` with a trained `elmo_coref`.
    """

    predictor = "elmo_coref"

    def annotate(self, docs: list[Doc]) -> None:
        for doc in docs:
            doc._.elmo_coref = []
        for index, group in groupby(of_docs(docs), key=lambda sentence: sentence.doc):
            sentences = list(group)
            indices = [i for sentence in sentences for i in sentence.indices]
            (answer,) = self.predict([{"sentences": [each.words for each in sentences]}])
            docs[index]._.elmo_coref = [
                [
                    (indices[start], indices[end - 1] + 1)
                    for start, end in (mention["tokens"] for mention in cluster)
                ]
                for cluster in answer["clusters"]
            ]
