from typing import Any

from allennlp.common.util import JsonDict
from allennlp.data import Instance
from allennlp.data.tokenizers import Token
from allennlp.models import Model
from allennlp.predictors import Predictor

from elmo_tasks.common.json_text import check_characters
from elmo_tasks.predictors.text_predictor import TextPredictor, one_line
from elmo_tasks.readers.classify import ClassifyReader


@Predictor.register("elmo_classify")
class ClassifyPredictor(TextPredictor):
    """
    Classifies texts with a model of the user's own data. An input has raw text under the name of
    each column that the model was trained on, such as `{"text": "..."}`, and may have further
    fields. For a model of one text, an input may also be `{"tokens": ["...", ...]}`.

    An answer has all outputs of the model. `tokens` are the words of the first text,
    `probabilities` maps the name of each label to its probability, and `label` is the most probable
    label. If a text may have several labels, `labels` are all labels with a probability of 0.5 or
    more. In text, an answer is the label, its probability and the tokens.

    Registered as a `Predictor` with name "elmo_classify". Its parameters are those of
    `TextPredictor`.
    """

    _dataset_reader: ClassifyReader

    def __init__(self, model: Model, dataset_reader: ClassifyReader, **kwargs: Any) -> None:
        self.input_names = tuple(dataset_reader.texts)
        self.other_names = ("tokens",) if len(self.input_names) == 1 else ()
        super().__init__(model, dataset_reader, **kwargs)

    def readable(self, answer: JsonDict) -> list[str]:
        labels = answer["labels"] if "labels" in answer else [answer["label"]]
        found = [part for label in labels for part in (label, answer["probabilities"][label])]
        return [one_line(*found, " ".join(answer["tokens"]))]

    def _json_to_instance(self, json_dict: JsonDict) -> Instance:
        cut = self._dataset_reader.sentences
        texts: list[list[list[Token]]]
        match json_dict:
            case {"tokens": [*words]} if len(self.input_names) == 1 and all(
                isinstance(word, str) and word.strip() for word in words
            ):
                check_characters(" ".join(words))
                texts = [cut.of_words(words)]
            case dict() if all(isinstance(json_dict.get(name), str) for name in self.input_names):
                for name in self.input_names:
                    check_characters(json_dict[name])
                texts = [cut.of_text(json_dict[name]) for name in self.input_names]
            case _:
                names = ", ".join(f'"{name}": "raw text"' for name in self.input_names)
                raise ValueError(f"expected {{{names}}}, but got {json_dict!r:.200}")
        if not all(texts):
            raise ValueError(f"there is no word in {json_dict!r:.200}")
        return self._dataset_reader.text_to_instance(texts)
