from allennlp.common.util import JsonDict
from allennlp.data import DatasetReader, Instance
from allennlp.models import Model
from allennlp.predictors import Predictor

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.json_text import parse_json
from elmo_tasks.predictors.inputs import check_texts

_TEXTS = ("premise", "hypothesis")


@Predictor.register("elmo_snli")
class SnliPredictor(Predictor):
    """
    Predicts whether a premise entails a hypothesis. An input is
    `{"premise": "...", "hypothesis": "..."}`, raw texts that the dataset reader's tokenizer cuts.
    An answer has `label`, the most probable class; `probabilities`, which maps the name of each
    class to its probability; `premise_tokens` and `hypothesis_tokens`.

    Registered as a `Predictor` with name "elmo_snli".

    # Parameters

    attention : `bool`, optional (default = `False`)
        Whether an answer also has `premise_attention` and `hypothesis_attention`. The first has a
        row for each token of the premise, with its attention weights over the tokens of the
        hypothesis; the second is the reverse. `--predictor-args '{"attention": true}'` asks for it.
    """

    def __init__(
        self,
        model: Model,
        dataset_reader: DatasetReader,
        frozen: bool = True,
        attention: bool = False,
    ) -> None:
        super().__init__(model, dataset_reader, frozen)
        if not isinstance(attention, bool):
            raise ConfigurationError(f"attention must be true or false, not {attention!r}")
        self.attention = attention
        self._num_lines = 0

    def load_line(self, line: str) -> JsonDict:
        self._num_lines += 1
        try:
            inputs = parse_json(line)
            check_texts(inputs, _TEXTS)
        except ValueError as error:
            # AllenNLP skips blank lines without calling `load_line`.
            raise ValueError(
                f"line {self._num_lines} (not counting blank lines), {line[:60]!r}: expected "
                f'{{"premise": "raw text", "hypothesis": "raw text"}} ({error})'
            ) from error
        return inputs

    def predict_instance(self, instance: Instance) -> JsonDict:
        return self._answer(super().predict_instance(instance))

    def predict_batch_instance(self, instances: list[Instance]) -> list[JsonDict]:
        return [self._answer(output) for output in super().predict_batch_instance(instances)]

    def _json_to_instance(self, json_dict: JsonDict) -> Instance:
        check_texts(json_dict, _TEXTS)
        tokenize = self._dataset_reader.tokenizer.tokenize
        return self._dataset_reader.text_to_instance(
            tokenize(json_dict["premise"]), tokenize(json_dict["hypothesis"])
        )

    def _answer(self, output: JsonDict) -> JsonDict:
        names = ["label", "probabilities", "premise_tokens", "hypothesis_tokens"]
        if self.attention:
            names += ["premise_attention", "hypothesis_attention"]
        return {name: output[name] for name in names}
