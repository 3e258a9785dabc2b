from spacy.language import Language
from spacy.tokens import Doc

from elmo_tasks.spacy.model_pipe import ModelPipe


@Language.factory("elmo_sentiment", assigns=["doc.cats"])
class SentimentComponent(ModelPipe):
    """
    Sets `doc.cats` to the probability of each class of a trained classifier, beside the categories
    that the doc has. The doc is one text, without its white space. A doc without words is left as
    it is.

    Registered as a factory with the name "elmo_sentiment". It needs AllenNLP. A saved pipeline has
    the model, which is opened at first use.

    # Parameters

    nlp : `Language`
        The pipeline.
    name : `str`
        The name of the component in the pipeline.
    model : `str`
        A trained `elmo_bcn`: its name, path, address or repository, as for
        `elmo_tasks.load`.
    """

    predictor = "elmo_sst"

    def __init__(self, nlp: Language, name: str, model: str) -> None:
        super().__init__(name, model, self.predictor)

    def annotate(self, docs: list[Doc]) -> None:
        """Sets the categories of docs."""
        texts = [[token.text for token in doc if not token.is_space] for doc in docs]
        for index, answer in self.model.answers(texts):
            docs[index].cats.update(answer["probabilities"])
