from typing import Any

from allennlp.common.util import JsonDict
from allennlp.data import Instance
from allennlp.predictors import Predictor

from elmo_tasks.predictors.text_predictor import Task, TextPredictor, one_line
from elmo_tasks.readers.label_fields import TagsField


@Predictor.register("elmo_tag")
class TagPredictor(TextPredictor):
    """
    Tags the tokens of a sentence. An answer has `tokens`, `tags` (one for each token) and the
    `probabilities` of the tags. In text, an answer is the tokens, each with a slash and its tag.

    Registered as a `Predictor` with name "elmo_tag".
    """

    other_names = ("tokens", "text")
    task = Task(
        "tag",
        "Tag",
        "Gives each word one of the tags of the data that the model was trained on.",
        drawing="tags",
        compared="tags",
        explained=True,
    )

    def answer(self, instance: Instance, output: dict[str, Any]) -> JsonDict:
        return {name: output[name] for name in ("tokens", "tags", "probabilities")}

    def readable(self, answer: JsonDict) -> list[str]:
        pairs = zip(answer["tokens"], answer["tags"])
        return [one_line(" ".join(f"{word}/{tag}" for word, tag in pairs))]

    def predictions_to_labeled_instances(
        self, instance: Instance, outputs: dict[str, Any]
    ) -> list[Instance]:
        """Returns an instance for each token, in which the others have no tag."""
        tags = outputs["tags"]
        labelled = [instance.duplicate() for _ in tags]
        for index, each in enumerate(labelled):
            one = [tag if index == other else "O" for other, tag in enumerate(tags)]
            each.add_field("tags", TagsField(one, each["tokens"]), self._model.vocab)
        return labelled
