from allennlp.predictors import Predictor

from elmo_tasks.predictors.label_predictor import LabelPredictor
from elmo_tasks.predictors.text_predictor import Task
from elmo_tasks.readers.sst import CLASSES


@Predictor.register("elmo_sst")
class SstPredictor(LabelPredictor):
    """
    Predicts the sentiment of a sentence. An answer has all outputs of the model, and `tokens`.

    Registered as a `Predictor` with name "elmo_sst".
    """

    task = Task(
        "sst",
        "SST",
        "Sentiment: says how positive or negative a sentence about a film is.",
        (
            {"sentence": "An unexpectedly moving film with two wonderful actors."},
            {"sentence": "The plot is thin, but the songs almost make up for it."},
            {"sentence": "Two hours of shouting, and not one joke that works."},
            {"sentence": "The film opens in Lisbon in 1961."},
        ),
        drawing="label",
        compared="classes",
        explained=True,
        classes=CLASSES["5-class"],
    )
