import json
from itertools import islice
from typing import Any

import torch
from allennlp.common.util import JsonDict
from allennlp.data import Batch, DatasetReader, Instance
from allennlp.data.fields import IndexField
from allennlp.nn.util import move_to_device
from allennlp.predictors import Predictor

from elmo_tasks.common.errors import check_at_least
from elmo_tasks.models.bidaf import Bidaf
from elmo_tasks.predictors.answers import one_line
from elmo_tasks.predictors.inputs import check_texts
from elmo_tasks.predictors.task import Task
from elmo_tasks.predictors.text_predictor import TextPredictor
from elmo_tasks.readers.squad_file import parse_squad

_LIBRARY = (
    "The town library of Vellmar was built in 1911 by Anna Brandt, an architect from Kassel. A "
    "fire destroyed its roof in 1943, and for nine years the books were kept in the cellar of "
    "the brewery. Since 1952 the library has stood open every day but Monday. Its oldest book "
    "is a herbal of 1542, which a baker gave in exchange for a lost novel."
)


@Predictor.register("elmo_squad")
class SquadPredictor(TextPredictor):
    """
    Answers questions about passages. An input is `{"passage": "raw text", "question": "raw text"}`,
    or a whole file in SQuAD's format on one line.

    The answer to a question has `answer` (a slice of the passage), `start` and `end` (the slice's
    character offsets), its `probability`, and `best`: the most probable spans with these four
    fields, the answer first. If the question came from a file of the dataset reader, the answer
    also has the question's `id`. The answer to a file in SQuAD's format maps the id of each
    question to its answer. In text, an answer is the slice and its probability.

    Registered as a `Predictor` with name "elmo_squad".

    # Parameters

    num_best (default `5`): Number of spans in `best`.
    attention (default `False`): Whether an answer also has `passage_tokens`, `question_tokens` and
        `attention`. `attention` has a row for each passage token, with its weights over the
        question tokens. The weights of a row sum to 1.
    official (default `False`): Whether the answer to a file is `{id: text}`, the form that SQuAD's
        official script reads.
    """

    _model: Bidaf
    max_tokens = 8192
    input_names = ("passage", "question")
    other_names = ("data",)
    task = Task(
        "squad",
        "SQuAD",
        "Reading: answers a question with a piece of the passage.",
        (
            {"passage": _LIBRARY, "question": "Who built the library?"},
            {"passage": _LIBRARY, "question": "Where were the books kept after the fire?"},
            {"passage": _LIBRARY, "question": "When is the library closed?"},
        ),
        drawing="reading",
        compared="answers",
        explained=True,
        details={"attention": True},
    )

    def __init__(
        self,
        model: Bidaf,
        dataset_reader: DatasetReader,
        num_best: int = 5,
        attention: bool = False,
        official: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(model, dataset_reader, **kwargs)
        check_at_least("num_best", num_best)
        self.num_best = num_best
        self.attention = attention
        self.official = official

    def load_line(self, line: str) -> JsonDict:
        try:
            return super().load_line(line)
        except json.JSONDecodeError as error:
            raise ValueError(
                f"expected a question or a whole file in SQuAD's format as JSON on one line, but "
                f"got {line[:80]!r} ({error}). If the file has several lines, run "
                "`python -m json.tool --compact FILE > LINE.json` and use LINE.json"
            ) from error

    def readable(self, answer: JsonDict) -> list[str]:
        # The answer to a file in SQuAD's format maps ids to answers, and an id may be "best".
        answers = [answer] if isinstance(answer.get("best"), list) else answer.values()
        return [
            one_line(*((each["answer"], each["probability"]) if isinstance(each, dict) else [each]))
            for each in answers
        ]

    def answers(self, inputs: list[JsonDict]) -> list[JsonDict]:
        instances = list(map(self._instances, inputs))
        answers = iter(self.predict_batch_instance([each for some in instances for each in some]))
        return [
            self._of_file(list(islice(answers, len(some)))) if _is_file(each) else next(answers)
            for each, some in zip(inputs, instances)
        ]

    def further_fields(self, inputs: JsonDict) -> JsonDict:
        # The answer to a whole file has the ids of questions as its fields.
        return {} if _is_file(inputs) else super().further_fields(inputs)

    def predictions_to_labeled_instances(
        self, instance: Instance, outputs: dict[str, Any]
    ) -> list[Instance]:
        labelled = instance.duplicate()
        for name, index in zip(("span_start", "span_end"), outputs["best_span"]):
            labelled.add_field(name, IndexField(int(index), labelled["passage"]))
        return [labelled]

    def _json_to_instance(self, json_dict: JsonDict) -> Instance:
        file = ', or a whole file in SQuAD\'s format, {"data": [...]}'
        check_texts(json_dict, self.input_names, alternative=file)
        return self._dataset_reader.text_to_instance(json_dict["question"], json_dict["passage"])

    def _instances(self, inputs: JsonDict) -> list[Instance]:
        """Returns an instance for a question, or for each question of a file."""
        if not _is_file(inputs):
            return [self._json_to_instance(inputs)]
        return [
            self._dataset_reader.text_to_instance(each.question, each.passage, id=each.id)
            for each in parse_squad(inputs)
        ]

    def _of_file(self, answers: list[JsonDict]) -> JsonDict:
        by_id = {answer.pop("id"): answer for answer in answers}
        if self.official:
            return {id: answer["answer"] for id, answer in by_id.items()}
        return by_id

    @torch.no_grad()
    def forward(self, batch: list[Instance]) -> list[dict[str, Any]]:
        """Returns the spans of each question and their probabilities."""
        instances = Batch(batch)
        instances.index_instances(self._model.vocab)
        tensors = move_to_device(instances.as_tensor_dict(), self._model.start.weight.device)
        scores = self._model.score(tensors["question"], tensors["passage"])
        found = self._model.best_spans(scores, self.num_best)
        outputs = [
            {"spans": spans, "probabilities": probabilities}
            for spans, probabilities in zip(found.spans.tolist(), found.probabilities.tolist())
        ]
        if self.attention:
            for output, weights in zip(outputs, scores.attention, strict=True):
                output["attention"] = weights
        return outputs

    def answer(self, instance: Instance, output: dict[str, Any]) -> JsonDict:
        id, passage = (instance["metadata"][name] for name in ("id", "passage"))
        best = []
        for (first, last), probability in zip(output["spans"], output["probabilities"]):
            # If the passage has fewer than `num_best` spans, the last spans end in padding.
            if last < len(instance["passage"]):
                start, end = passage.characters_of(first, last)
                span = {"answer": passage.text[start:end], "start": start, "end": end}
                best.append({**span, "probability": probability})
        answer = {**({} if id is None else {"id": id}), **best[0], "best": best}
        return {**answer, **_attention(instance, output["attention"])} if self.attention else answer


def _is_file(inputs: Any) -> bool:
    """Returns whether an input is a whole file in SQuAD's format."""
    return isinstance(inputs, dict) and "data" in inputs


def _attention(instance: Instance, weights: torch.Tensor) -> JsonDict:
    tokens = {name: [token.text for token in instance[name]] for name in ("passage", "question")}
    weights = weights[: len(tokens["passage"]), : len(tokens["question"])]
    return {
        "passage_tokens": tokens["passage"],
        "question_tokens": tokens["question"],
        "attention": weights.tolist(),
    }
