"""Writes sentences as training or validation files of the tasks."""

import json
from collections.abc import Callable
from functools import reduce
from pathlib import Path


def write_sentence(task: str, path: Path, sentence: str) -> Path:
    """
    Writes a file with a sentence, whose tokens are separated by spaces, and returns its path. The
    file also has an instance of each other class, whose only words are full stops.
    """
    path.write_text(_FORMATS[task](sentence), encoding="utf-8")
    return path


def _tree(sentence: str) -> str:
    leaves = [f"(2 {word})" for word in sentence.split()]
    trees = [reduce(lambda left, right: f"(2 {left} {right})", leaves)]
    return "\n".join([*trees, *(f"({label} .)" for label in (0, 1, 3, 4))])


def _pair(sentence: str) -> str:
    texts = {"neutral": sentence, "entailment": ".", "contradiction": "."}
    pairs = [{"gold_label": k, "sentence1": text, "sentence2": "."} for k, text in texts.items()]
    return "\n".join(map(json.dumps, pairs))


def _question(sentence: str) -> str:
    answer = {"text": sentence.split()[0], "answer_start": 0}
    question = {"id": "1", "question": ".", "answers": [answer]}
    paragraph = {"context": sentence, "qas": [question]}
    return json.dumps({"version": "1.1", "data": [{"title": "", "paragraphs": [paragraph]}]})


def _columns(sentence: str) -> str:
    return "".join(f"{word} NN O B-PER\n" for word in sentence.split())


def _roles(sentence: str) -> str:
    words = sentence.split()
    lines = [f"d 0 {i} {word} XX * - {'-' if i else 'x'} - - *" for i, word in enumerate(words)]
    roles = ["(V*)", "(ARG0*)", *("*" for _ in words)]
    return "".join(f"{line} {role} -\n" for line, role in zip(lines, roles))


def _document(sentence: str) -> str:
    lines = [f"d 0 {i} {word} XX * - - - - * -\n" for i, word in enumerate(sentence.split())]
    return "".join(["#begin document (nw/d); part 000\n", *lines, "\n#end document\n"])


def _review(sentence: str) -> str:
    return json.dumps({"text": sentence, "label": "Positive"})


_FORMATS: dict[str, Callable[[str], str]] = {
    "sst": _tree,
    "snli": _pair,
    "squad": _question,
    "ner": _columns,
    "srl": _roles,
    "coref": _document,
    "classify": _review,
}
