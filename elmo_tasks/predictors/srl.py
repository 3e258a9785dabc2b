from itertools import islice
from typing import Any

from allennlp.common.util import JsonDict
from allennlp.data import Instance
from allennlp.predictors import Predictor

from elmo_tasks.models.srl_tagger import SrlTagger
from elmo_tasks.predictors.inputs import Text, sentence_input
from elmo_tasks.predictors.text_predictor import Task, TextPredictor, one_line


@Predictor.register("elmo_srl")
class SrlPredictor(TextPredictor):
    """
    Finds the predicates of a sentence and labels their semantic roles. An input may give the
    indices of the predicates: `"predicates": [1, 5]`. By default the model finds them, and the
    answer leaves out those without a role, such as auxiliary verbs, unless none has a role.

    An answer has `sentence` (the text), `tokens` and `predicates`. A predicate has its `text`, its
    `index`, `tags` (one for each token) and `roles`. Each entry of `roles` has a `role` (such as
    ARG0, or V for the predicate), a span (see `Text.span`) and a `confidence`: the marginal
    probability that exactly these tokens have this role, over all sequences of tags that BIO
    allows. In text, an answer is the sentence and a line for each predicate, with its roles.

    Registered as a `Predictor` with name "elmo_srl".
    """

    other_names = ("tokens", "predicates")
    columns_of_answer = ("predicates", "tokens")
    task = Task(
        "srl",
        "SRL",
        "Semantic roles: says for each predicate who did what to whom, and where, when and how.",
        (
            {"sentence": "The storm broke two windows and frightened the dog."},
            {"sentence": "The baker who lives upstairs gave us bread on Friday."},
        ),
        drawing="roles",
        legend={
            "V": "the predicate",
            "ARG0": "who does it",
            "ARG1": "to what or whom",
            "ARG2": "for or with whom, or the result; it depends on the predicate",
            "ARGM-TMP": "when",
            "ARGM-LOC": "where",
            "ARGM-DIR": "where from or to",
            "ARGM-MNR": "how",
            "ARGM-CAU": "why",
            "ARGM-PRP": "what for",
            "ARGM-ADV": "under which circumstances",
            "ARGM-MOD": "modal verb",
            "ARGM-NEG": "negation",
            "ARGM-DIS": "link to the sentence before",
            "R-": "a pronoun that stands for the role, such as who or that",
            "C-": "a further part of the role",
        },
        comparison="roles",
    )
    _model: SrlTagger

    def readable(self, answer: JsonDict) -> list[str]:
        return [one_line(answer["sentence"])] + [
            one_line(
                "",
                predicate["text"],
                *(f"[{role['role']} {role['text']}]" for role in predicate["roles"]),
            )
            for predicate in answer["predicates"]
        ]

    def answers(self, inputs: list[JsonDict]) -> list[JsonDict]:
        reader = self._dataset_reader
        sentences = [sentence_input(item, reader.tokenizer.tokenize) for item in inputs]
        given_predicates = [
            _given_predicates(item, len(text.tokens)) for item, text in zip(inputs, sentences)
        ]
        raw, tagged = [], []
        for item, sentence, indices in zip(inputs, sentences, given_predicates):
            if indices is None:
                raw.append(self.as_read(reader.text_to_instance(sentence.tokens), item))
            else:
                instances = reader.text_to_instances(sentence.tokens, indices)
                tagged += [self.as_read(instance, item) for instance in instances]
        model_outputs = (_with_roles(output["predicates"]) for output in self.outputs(raw))
        outputs = iter(self.outputs(tagged))
        return [
            _answer(
                text,
                next(model_outputs) if indices is None else list(islice(outputs, len(indices))),
            )
            for text, indices in zip(sentences, given_predicates)
        ]

    def answer(self, instance: Instance, output: dict[str, Any]) -> JsonDict:
        """Returns the answer for an instance of one predicate."""
        return _answer(Text.of_words(output["tokens"]), [output])


def _with_roles(outputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the outputs of predicates with an argument, or all outputs if none has any."""
    return [
        output for output in outputs if any(role != "V" for role, _, _ in output["arguments"])
    ] or outputs


def _given_predicates(inputs: JsonDict, length: int) -> list[int] | None:
    """
    Returns the predicates that an input gives, or `None`. Raises `ValueError` if a predicate is not
    the index of a token.
    """
    if "predicates" not in inputs:
        return None
    indices = inputs["predicates"]
    if not isinstance(indices, list) or not all(
        type(index) is int and 0 <= index < length for index in indices
    ):
        raise ValueError(
            f"predicates must be a list of indices of tokens, from 0 to {length - 1}, but is "
            f"{indices!r:.80} in {inputs!r:.200}"
        )
    return indices


def _answer(sentence: Text, outputs: list[dict[str, Any]]) -> JsonDict:
    """Returns the answer for a sentence, given the model's outputs for its predicates."""
    words = [token.text for token in sentence.tokens]
    predicates = [
        {
            "text": words[output["predicate"]],
            "index": output["predicate"],
            "tags": output["tags"],
            "roles": [
                {"role": role, **sentence.span(start, end), "confidence": confidence}
                for (role, start, end), confidence in zip(
                    output["arguments"], output["confidences"]
                )
            ],
        }
        for output in outputs
    ]
    return {"sentence": sentence.text, "tokens": words, "predicates": predicates}
