import re
from collections.abc import Iterable
from typing import Any

import torch
from allennlp.common.util import JsonDict
from allennlp.data import Instance
from allennlp.data.fields import IndexField
from allennlp.predictors import Predictor

from elmo_tasks.models.bidaf import Bidaf, best_spans
from elmo_tasks.predictors.inputs import check_texts
from elmo_tasks.predictors.text_predictor import Task, TextPredictor, one_line
from elmo_tasks.readers.squad_file import read_squad

# What a line of SQuAD's format has, and an input has not.
_NESTED = r'"(data|paragraphs|qas)"\s*:'

# The number of spans in an answer.
_NUM_BEST = 5

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
    In a file, a passage may be called `context`, and the file may be one of SQuAD.

    An answer has `answer` (a slice of the passage), `start` and `end` (the slice's character
    offsets), its `probability`, and `best`: the five most probable spans with these four fields,
    the answer first. If the question came from a file of the dataset reader, the answer also has
    the question's `id`. In text, an answer is the slice and its probability.

    Registered as a `Predictor` with name "elmo_squad".
    """

    _model: Bidaf
    max_tokens = 8192
    columns_of_answer = ("answer", "probability", "start", "end")
    input_names = ("passage", "question")
    other_names = ()
    other_texts = {"context": "passage"}
    task = Task(
        "squad",
        "SQuAD",
        "Reading: answers a question with a piece of the passage.",
        (
            {"passage": _LIBRARY, "question": "Who built the library?"},
            {"passage": _LIBRARY, "question": "Where were the books kept after the fire?"},
        ),
        drawing="reading",
        compared="answers",
        explained=True,
    )

    def inputs_of(self, path: str, first_line: str) -> Iterable[JsonDict] | None:
        if re.search(_NESTED, first_line) is None and first_line.rstrip().endswith("}"):
            return None
        return (
            {"id": each.id, "passage": each.passage, "question": each.question}
            for each in read_squad(path)
        )

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
        check_texts(json_dict, self.input_names)
        return self._dataset_reader.text_to_instance(json_dict["question"], json_dict["passage"])

    def answer(self, instance: Instance, output: dict[str, Any]) -> JsonDict:
        id, passage = (instance["metadata"][name] for name in ("id", "passage"))
        length = len(instance["passage"])
        # Shape of each: (1, passage length)
        start_logits, end_logits = (
            torch.as_tensor(output[name][None, :length]) for name in ("start_logits", "end_logits")
        )
        mask = torch.ones(1, length, dtype=torch.bool)
        longest = self._model.max_answer_tokens
        found = best_spans(start_logits, end_logits, mask, longest, _NUM_BEST)
        spans, probabilities = (each[0].tolist() for each in found)
        best = []
        for (first, last), probability in zip(spans, probabilities):
            # If the passage has fewer spans, the last ones end in padding.
            if last < length:
                start, end = passage.characters_of(first, last)
                span = {"answer": passage.text[start:end], "start": start, "end": end}
                best.append({**span, "probability": probability})
        return {**({} if id is None else {"id": id}), **best[0], "best": best}
