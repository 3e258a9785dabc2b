from spacy.language import Language

from elmo_tasks.spacy.sentiment import SentimentComponent


@Language.factory("elmo_textcat", assigns=["doc.cats"])
class TextcatComponent(SentimentComponent):
    """
    Adds to `doc.cats` the probability of each label of your own model, as `SentimentComponent`
    does.

    Registered as a factory with the name "elmo_textcat": a `ModelPipe` with an `elmo_classifier` of
    one text.
    """

    predictor = "elmo_classify"
