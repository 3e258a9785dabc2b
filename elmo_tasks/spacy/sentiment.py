from spacy.language import Language
from spacy.tokens import Doc

from elmo_tasks.spacy.pipes import DocSentence, ModelPipe


@Language.factory("elmo_sentiment", assigns=["doc.cats"])
class SentimentComponent(ModelPipe):
    """
    Adds to `doc.cats` the probability of each class of a trained classifier. The doc counts as one
    text, without white space tokens. A doc without words is left as it is.

    Registered as a factory with the name "elmo_sentiment": a `ModelPipe` with a trained `elmo_bcn`.
    """

    predictor = "elmo_sst"

    def annotate(self, docs: list[Doc]) -> None:
        words = [[token.text for token in doc if not token.is_space] for doc in docs]
        texts = [DocSentence(index, [], each) for index, each in enumerate(words)]
        for index, _, answer in self.answers(texts):
            docs[index].cats.update(answer["probabilities"])
