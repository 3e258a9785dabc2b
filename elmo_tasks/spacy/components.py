"""
The components that annotate docs by a trained model. A doc without sentence boundaries is one
sentence.
"""

from itertools import groupby

from spacy.tokens import Doc, Span

from elmo_tasks.spacy.pipes import DocSentence, ModelPipe, of_docs

Span.set_extension("elmo_confidence", default=None, force=True)
Doc.set_extension("elmo_srl", default=None, force=True)
Doc.set_extension("elmo_coref", default=None, force=True)


class EntityComponent(ModelPipe):
    """
    Replaces `doc.ents` with the entities that a trained tagger finds in each sentence.
    `ent._.elmo_confidence` is the marginal probability that exactly these tokens are an entity of
    this type.

    Registered as a factory with the name "elmo_ner": a `ModelPipe` with an `elmo_crf_tagger`.
    """

    predictor = "elmo_ner"

    def annotate(self, docs: list[Doc]) -> None:
        spans_of: list[list[Span]] = [[] for _ in docs]
        for doc_index, indices, answer in self.answers(of_docs(docs)):
            for entity in answer["entities"]:
                start, end = entity["tokens"]
                span = Span(docs[doc_index], indices[start], indices[end - 1] + 1, entity["type"])
                span._.elmo_confidence = entity["confidence"]
                spans_of[doc_index].append(span)
        for doc, spans in zip(docs, spans_of):
            doc.set_ents(spans)


class RolesComponent(ModelPipe):
    """
    Sets `doc._.elmo_srl` to a list of dictionaries, one for each predicate of the doc: `predicate`
    is the index of its token, and `roles` are its semantic roles. A role has a `role`, the `start`
    and the exclusive `end` of its tokens in the doc, and a `confidence`.

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
                            "role": role["role"],
                            "start": indices[role["tokens"][0]],
                            "end": indices[role["tokens"][1] - 1] + 1,
                            "confidence": role["confidence"],
                        }
                        for role in predicate["roles"]
                    ],
                }
                for predicate in answer["predicates"]
            ]


class CoreferenceComponent(ModelPipe):
    """
    Sets `doc._.elmo_coref` to the clusters of mentions that refer to the same thing. A cluster is a
    list of pairs: the start and the exclusive end of a mention's tokens in the doc. Its spans are
    `[doc[start:end] for start, end in cluster]`.

    Registered as a factory with the name "elmo_coref": a `ModelPipe` with a trained `elmo_coref`.
    """

    predictor = "elmo_coref"

    def annotate(self, docs: list[Doc]) -> None:
        for doc in docs:
            doc._.elmo_coref = []
        for index, group in groupby(of_docs(docs), key=lambda sentence: sentence.doc):
            sentences = list(group)
            indices = [i for sentence in sentences for i in sentence.indices]
            (answer,) = self.predict(
                [{"sentences": [doc_sentence.words for doc_sentence in sentences]}]
            )
            docs[index]._.elmo_coref = [
                [
                    (indices[start], indices[end - 1] + 1)
                    for start, end in (mention["tokens"] for mention in cluster)
                ]
                for cluster in answer["clusters"]
            ]


class TaggerComponent(ModelPipe):
    """
    Sets `token.tag_` of each token to the tag that your own model predicts.

    Registered as a factory with the name "elmo_tagger": a `ModelPipe` with a trained `elmo_tagger`.
    """

    predictor = "elmo_tag"

    def annotate(self, docs: list[Doc]) -> None:
        for doc_index, indices, answer in self.answers(of_docs(docs)):
            for token_index, tag in zip(indices, answer["tags"]):
                docs[doc_index][token_index].tag_ = tag


class SentimentComponent(ModelPipe):
    """
    Adds to `doc.cats` the probability of each class of a trained classifier. The doc is one text
    for the classifier, without tokens of white space. A doc without words gets no categories.

    Registered as a factory with the name "elmo_sentiment": a `ModelPipe` with a trained `elmo_bcn`.
    """

    predictor = "elmo_sst"

    def annotate(self, docs: list[Doc]) -> None:
        words = [[token.text for token in doc if not token.is_space] for doc in docs]
        texts = [
            DocSentence(index, [], sentence_words) for index, sentence_words in enumerate(words)
        ]
        for index, _, answer in self.answers(texts):
            docs[index].cats.update(answer["probabilities"])


class TextcatComponent(SentimentComponent):
    """
    Adds to `doc.cats` the probability of each label of your own model.

    Registered as a factory with the name "elmo_textcat": a `ModelPipe` with an `elmo_classifier` of
    one text.
    """

    predictor = "elmo_classify"
