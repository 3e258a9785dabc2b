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
from elmo_tasks.predictors.text_predictor import Task, TextPredictor

_LIBRARY = (
    "The town library of Vellmar was built in 1911 by Anna Brandt, an architect from Kassel. A "
    "fire destroyed its roof in 1943, and for nine years the books were kept in the cellar of "
    "the brewery. Since 1952 the library has stood open every day but Monday. Its oldest book "
    "is a herbal of 1542, which a baker gave in exchange for a lost novel."
)


@Predictor.register("elmo_squad")
class SquadPredictor(TextPredictor):
    """
    Answers questions about passages. An input is `{"passage": "raw text", "question": "raw text"}`.

    An answer has `answer` (a slice of the passage), `start` and `end` (the slice's character
    offsets), its `probability`, and `best`: the most probable spans with these four fields, the
    answer first. If the question came from a file of the dataset reader, the answer also has the
    question's `id`. In text, an answer is the slice and its probability.

    Registered as a `Predictor` with name "elmo_squad".

    # Parameters

    num_best (default `5`): Number of spans in `best`.
    attention (default `False`): Whether an answer also has `passage_tokens`, `question_tokens` and
        `attention`. `attention` has a row for each passage token, with its weights over the
        question tokens. The weights of a row sum to 1.
    """

    _model: Bidaf
    max_tokens = 8192
    input_names = ("passage", "question")
    other_names = ()
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
        **kwargs: Any,
    ) -> None:
        super().__init__(model, dataset_reader, **kwargs)
        check_at_least("num_best", num_best)
        self.num_best = num_best
        self.attention = attention

    def readable(self, answer: JsonDict) -> list[str]:
        return [one_line(answer["answer"], answer["probability"])]

    def predictions_to_labeled_instances(
        self, instance: Instance, outputs: dict[str, Any]
    ) -> list[Instance]:
        labelled = instance.duplicate()
        for name, index in zip(("span_start", "span_end"), outputs["best_span"]):
            labelled.add_field(name, IndexField(int(index), labelled["passage"]))
        return [labelled]

    def _json_to_instance(self, json_dict: JsonDict) -> Instance:
        whole_file = " (elmo-tasks evaluate --predictions-output-file answers a file of SQuAD)"
        check_texts(json_dict, self.input_names, whole_file)
        return self._dataset_reader.text_to_instance(json_dict["question"], json_dict["passage"])

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
        if self.attention:
            texts = {name: [token.text for token in instance[name]] for name in self.input_names}
            answer |= {f"{name}_tokens": tokens for name, tokens in texts.items()}
            passage, question = map(len, texts.values())
            answer["attention"] = output["attention"][:passage, :question].tolist()
        return answer
