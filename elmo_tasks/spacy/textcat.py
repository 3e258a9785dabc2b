from spacy.language import Language

from elmo_tasks.spacy.sentiment import SentimentComponent


@Language.factory("elmo_textcat", assigns=["doc.cats"])
class TextcatComponent(SentimentComponent):
    """
    Adds to `doc.cats` the probability of each label of your own model. The doc counts as one text,
    without white space tokens. A doc without words is left as it is.

    Registered as a factory with the name "elmo_textcat". Its parameters are those of
    `ModelPipe`, with a trained `elmo_classifier` of one text.
    """

    predictor = "elmo_classify"
