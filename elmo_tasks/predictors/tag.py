from allennlp.common.util import JsonDict
from allennlp.data import Instance
from allennlp.predictors import Predictor

from elmo_tasks.predictors.inputs import sentence_input
from elmo_tasks.predictors.text_predictor import TextPredictor, one_line
from elmo_tasks.readers.tag import TagReader


@Predictor.register("elmo_tag")
class TagPredictor(TextPredictor):
    """
    Tags the tokens of a sentence. An input is `{"sentence": "..."}` or `{"text": "..."}`, raw text
    that the dataset reader's tokenizer cuts, or `{"tokens": ["...", ...]}`; it may have further
    fields.

    An answer has `tokens`, `tags` (one for each token) and the `probabilities` of the tags. In
    text, an answer is the tokens, each with a slash and its tag.

    Registered as a `Predictor` with name "elmo_tag". Its parameters are those of `TextPredictor`.
    """

    input_names = ("sentence",)
    other_names = ("tokens", "text")
    _dataset_reader: TagReader

    def predict_batch_instance(self, instances: list[Instance]) -> list[JsonDict]:
        for instance in instances:
            self._dataset_reader.apply_token_indexers(instance)
        return [
            {name: output[name] for name in ("tokens", "tags", "probabilities")}
            for output in self._model.forward_on_instances(instances)
        ]

    def readable(self, answer: JsonDict) -> list[str]:
        pairs = zip(answer["tokens"], answer["tags"])
        return [one_line(" ".join(f"{word}/{tag}" for word, tag in pairs))]

    def _json_to_instance(self, json_dict: JsonDict) -> Instance:
        reader = self._dataset_reader
        return reader.text_to_instance(
            sentence_input(reader.asked(json_dict), reader.tokenizer.tokenize).tokens
        )
