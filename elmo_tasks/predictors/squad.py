import json
from typing import Any

import torch
from allennlp.common import Tqdm
from allennlp.common.util import JsonDict
from allennlp.data import Batch, DatasetReader, Instance
from allennlp.data.fields import IndexField
from allennlp.nn.util import move_to_device
from allennlp.predictors import Predictor

from elmo_tasks.common.batches import batches_by_length
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.json_text import parse_json
from elmo_tasks.models.bidaf import Bidaf
from elmo_tasks.predictors.inputs import check_texts
from elmo_tasks.predictors.task import Task
from elmo_tasks.predictors.text_predictor import TextPredictor, one_line
from elmo_tasks.readers.squad_file import parse_squad

# The most passage tokens of a batch, padding included. A longer passage is a batch of its own.
_MAX_TOKENS = 8192

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
        frozen: bool = True,
        num_best: int = 5,
        attention: bool = False,
        official: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(model, dataset_reader, frozen, **kwargs)
        if type(num_best) is not int or num_best < 1:
            raise ConfigurationError(f"num_best must be 1 or more, not {num_best!r}")
        self.num_best = num_best
        self.attention = attention
        self.official = official

    def load_line(self, line: str) -> JsonDict:
        try:
            inputs = parse_json(line)
            _check(inputs)
        except json.JSONDecodeError as error:
            raise ValueError(
                f"expected a question or a whole file in SQuAD's format as JSON on one line, but "
                f"got {line[:80]!r} ({error}). If the file has several lines, run "
                "`python -m json.tool --compact FILE > LINE.json` and use LINE.json"
            ) from error
        return inputs

    def readable(self, answer: JsonDict) -> list[str]:
        # The answer to a file in SQuAD's format maps ids to answers, and an id may be "best".
        answers = [answer] if isinstance(answer.get("best"), list) else answer.values()
        return [
            one_line(*((each["answer"], each["probability"]) if isinstance(each, dict) else [each]))
            for each in answers
        ]

    def answers(self, inputs: list[JsonDict]) -> list[JsonDict]:
        instances, files = [], []
        for each in inputs:
            ids = None
            if isinstance(each, dict) and "data" in each:
                asked = self._file_instances(each)
                ids = [instance["metadata"]["id"] for instance in asked]
            else:
                asked = [self._json_to_instance(each)]
            instances += asked
            files.append(ids)
        answers = iter(self.predict_batch_instance(instances))
        return [
            next(answers) if ids is None else {id: self._in_file(next(answers)) for id in ids}
            for ids in files
        ]

    def further_fields(self, inputs: JsonDict) -> JsonDict:
        # The answer to a whole file has the ids of questions as its fields.
        return {} if "data" in inputs else super().further_fields(inputs)

    def predict_batch_instance(self, instances: list[Instance]) -> list[JsonDict]:
        answers: list[JsonDict] = [{} for _ in instances]
        lengths = [len(instance["passage"]) for instance in instances]
        silent = len(instances) < 2
        with Tqdm.tqdm(total=len(instances), disable=silent, leave=False) as progress:
            for indices in batches_by_length(lengths, _MAX_TOKENS):
                batch = [instances[index] for index in indices]
                for index, answer in zip(indices, self._answers(batch), strict=True):
                    answers[index] = answer
                progress.update(len(batch))
        return answers

    def predictions_to_labeled_instances(
        self, instance: Instance, outputs: dict[str, Any]
    ) -> list[Instance]:
        labelled = instance.duplicate()
        for name, index in zip(("span_start", "span_end"), outputs["best_span"]):
            labelled.add_field(name, IndexField(int(index), labelled["passage"]))
        return [labelled]

    def _json_to_instance(self, json_dict: JsonDict) -> Instance:
        _check(json_dict)
        return self._dataset_reader.text_to_instance(json_dict["question"], json_dict["passage"])

    def _file_instances(self, content: JsonDict) -> list[Instance]:
        instances = []
        for question in parse_squad(content):
            try:
                instances.append(
                    self._dataset_reader.text_to_instance(
                        question.question, question.passage, id=question.id
                    )
                )
            except ValueError as error:
                raise ValueError(f"{question.path}: {error}") from error
        return instances

    def _in_file(self, answer: JsonDict) -> JsonDict | str:
        del answer["id"]
        return answer["answer"] if self.official else answer

    @torch.no_grad()
    def _answers(self, instances: list[Instance]) -> list[JsonDict]:
        """Returns the answers to the questions of one batch."""
        for instance in instances:
            self._dataset_reader.apply_token_indexers(instance)
        batch = Batch(instances)
        batch.index_instances(self._model.vocab)
        tensors = move_to_device(batch.as_tensor_dict(), self._model.start.weight.device)
        scores = self._model.score(tensors["question"], tensors["passage"])
        found = self._model.best_spans(scores, self.num_best)
        rows = zip(instances, found.spans.tolist(), found.probabilities.tolist())
        answers = [self._answer(*row) for row in rows]
        if self.attention:
            for answer, instance, weights in zip(answers, instances, scores.attention):
                answer.update(_attention(instance, weights))
        return answers

    def _answer(
        self, instance: Instance, spans: list[list[int]], probabilities: list[float]
    ) -> JsonDict:
        passage = instance["metadata"]["passage"]
        best = []
        for (first, last), probability in zip(spans, probabilities):
            # If the passage has fewer than `num_best` spans, the last spans end in padding.
            if last < len(instance["passage"]):
                start, end = passage.characters_of(first, last)
                best.append(
                    {
                        "answer": passage.text[start:end],
                        "start": start,
                        "end": end,
                        "probability": probability,
                    }
                )
        id = instance["metadata"]["id"]
        return {**({} if id is None else {"id": id}), **best[0], "best": best}


def _check(inputs: Any) -> None:
    if isinstance(inputs, dict) and "data" in inputs:
        parse_squad(inputs)
    else:
        file = ', or a whole file in SQuAD\'s format, {"data": [...]}'
        check_texts(inputs, ("passage", "question"), alternative=file)


def _attention(instance: Instance, weights: torch.Tensor) -> JsonDict:
    tokens = {name: [token.text for token in instance[name]] for name in ("passage", "question")}
    weights = weights[: len(tokens["passage"]), : len(tokens["question"])]
    return {
        "passage_tokens": tokens["passage"],
        "question_tokens": tokens["question"],
        "attention": weights.tolist(),
    }
