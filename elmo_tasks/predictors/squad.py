import re
from collections.abc import Iterable
from functools import cached_property
from typing import Any

import torch
from allennlp.common.util import JsonDict
from allennlp.data import Instance
from allennlp.data.fields import IndexField
from allennlp.predictors import Predictor

from elmo_tasks.models.bidaf import Bidaf
from elmo_tasks.modules.answer_spans import best_spans, distinct_spans
from elmo_tasks.predictors.inputs import check_texts
from elmo_tasks.predictors.text_predictor import Task, TextPredictor, one_line
from elmo_tasks.predictors.window_reader import WindowReader
from elmo_tasks.readers.squad_file import read_squad
from elmo_tasks.readers.windows import MAX_TOKENS, MAX_WINDOWS

# Keys that a line of SQuAD's format has, and an input does not have.
_NESTED = r'"(data|paragraphs|qas)"\s*:'

# The number of spans in an answer, by default and at most.
_NUM_BEST = 5
_MAX_BEST = 1000

# The characters before and after an answer that are shown in text.
_AROUND = 150

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
    and may have `top_k`, the number of answers. In a file, a passage may be called `context`. The
    file may also be in SQuAD's format.

    An answer has `answer` (a slice of the passage), `start` and `end` (the character offsets of the
    slice), and its `probability`. `best` has the `top_k` most probable spans, five by default, with
    these four fields; the answer is the first. A question of a file in SQuAD's format also has its
    `id`. In text, an answer is the slice and its probability.

    A passage of more than 400 tokens is cut into windows (see `Windows`), and only the windows most
    like the question are read. The answer is a span within one window; its probability is a softmax
    over all windows that were read. Each span of `best` then also has its `paragraph` (as far as it
    is in the window) and `paragraph_start`, and overlaps no other span. In text, the lines below
    the answer have the words around it, and the next best answers.

    Registered as a `Predictor` with name "elmo_squad".
    """

    _model: Bidaf
    max_tokens = 8192
    max_tokens_read = MAX_WINDOWS * MAX_TOKENS
    columns_of_answer = ("answer", "probability", "start", "end")
    input_names = ("passage", "question")
    other_names = ("top_k",)
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
        comparison="answers",
        explained=True,
    )

    def inputs_of(self, path: str, first_line: str) -> Iterable[JsonDict] | None:
        if re.search(_NESTED, first_line) is None and first_line.rstrip().endswith("}"):
            return None
        return (
            {"id": question.id, "passage": question.passage, "question": question.question}
            for question in read_squad(path)
        )

    def readable(self, answer: JsonDict) -> list[str]:
        lines = [one_line(answer["answer"], answer["probability"])]
        if "paragraph" not in answer:
            return lines
        lines[0] += f"\tcharacters {answer['start']} to {answer['end']}"
        lines.append(one_line("", _surroundings(answer)))
        return lines + [
            one_line("", f"{number}:", span["answer"], span["probability"])
            for number, span in enumerate(answer["best"][1:], start=2)
        ]

    def cells(self, answer: JsonDict) -> JsonDict:
        paragraph = {name: answer[name] for name in ("paragraph",) if name in answer}
        return {**super().cells(answer), **paragraph}

    def json_to_labeled_instances(self, inputs: JsonDict) -> list[Instance]:
        """
        Returns the instance with the model's answer as the label. For a long passage, the instance
        has only the window that contains the answer.
        """
        instance = self._json_to_instance(inputs)
        if _is_long(instance):
            best = self.predict_instance(instance)
            start, end = instance["metadata"]["windows"].window_of(best["start"])
            passage = instance["metadata"]["passage"].text[start:end]
            instance = self._json_to_instance({**inputs, "passage": passage})
        (output,) = super().outputs([instance])
        return self.predictions_to_labeled_instances(instance, output)

    def predictions_to_labeled_instances(
        self, instance: Instance, outputs: dict[str, Any]
    ) -> list[Instance]:
        labelled = instance.duplicate()
        for name, index in zip(("span_start", "span_end"), outputs["best_span"]):
            labelled.add_field(name, IndexField(int(index), labelled["passage"]))
        return [labelled]

    def instance_of(self, json_dict: JsonDict) -> Instance:
        check_texts(json_dict, self.input_names)
        instance = self._dataset_reader.text_to_instance(
            json_dict["question"], json_dict["passage"]
        )
        instance["metadata"].metadata["top_k"] = _top_k(json_dict.get("top_k", _NUM_BEST))
        return instance

    def outputs(self, instances: list[Instance]) -> list[dict[str, Any]]:
        short = iter(
            super().outputs([instance for instance in instances if not _is_long(instance)])
        )
        return [
            self._windows.output(instance) if _is_long(instance) else next(short)
            for instance in instances
        ]

    @cached_property
    def _windows(self) -> WindowReader:
        return WindowReader(self._model, self._dataset_reader)

    def answer(self, instance: Instance, output: dict[str, Any]) -> JsonDict:
        about = instance["metadata"].metadata
        # The tokens that are read, and for each the number of its window.
        tokens = [index for window in about["read"] for index in range(window.start, window.stop)]
        numbers = [k for k, window in enumerate(about["read"], 1) for _ in range(*window[:2])]
        # Shape of each: (1, tokens)
        start_logits, end_logits = (
            torch.as_tensor(output[name])[None, : len(tokens)]
            for name in ("start_logits", "end_logits")
        )
        windows = torch.tensor([numbers])
        best = []
        most = about.get("top_k", _NUM_BEST)
        choose = distinct_spans if _is_long(instance) else best_spans
        choices = choose(start_logits, end_logits, windows, self._model.max_answer_tokens, most)
        for (first, last), probability in zip(*(tensor[0].tolist() for tensor in choices)):
            # If the passage has fewer spans, the last ones end in padding.
            if last < len(tokens):
                best.append(_span(about, tokens[first], tokens[last], probability))
        id = about["id"]
        return {**({} if id is None else {"id": id}), **best[0], "best": best}


def _surroundings(answer: JsonDict) -> str:
    """Returns the words around the answer, within its paragraph."""
    paragraph, text = answer["paragraph"], answer["answer"]
    start = answer["start"] - answer["paragraph_start"]
    before, after = paragraph[:start], paragraph[start + len(text) :]
    if len(before) > _AROUND:
        before = f"... {before[-_AROUND:].partition(' ')[2]}"
    if len(after) > _AROUND:
        after = f"{after[:_AROUND].rpartition(' ')[0]} ..."
    return f"{before}{text}{after}"


def _is_long(instance: Instance) -> bool:
    return len(instance["metadata"]["read"]) > 1  # type: ignore[index]


def _top_k(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= _MAX_BEST:
        raise ValueError(f"top_k must be a whole number from 1 to {_MAX_BEST}, not {value!r:.80}")
    return value


def _span(about: JsonDict, first: int, last: int, probability: float) -> JsonDict:
    """Returns a span of tokens as fields of an answer."""
    passage = about["passage"]
    start, end = passage.characters_of(first, last)
    span = {"answer": passage.text[start:end], "start": start, "end": end}
    if len(about["read"]) == 1:
        return {**span, "probability": probability}
    start, end = about["windows"].around(first, last)
    paragraph = {"paragraph": passage.text[start:end], "paragraph_start": start}
    return {**span, "probability": probability, **paragraph}
