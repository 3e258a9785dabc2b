"""The columns that `predict` writes for a tagger are scored as `evaluate` scores them."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch

from elmo_tasks.predictors.answer_columns import AnswerColumns
from elmo_tasks.predictors.answer_lines import answer_inputs
from elmo_tasks.predictors.tag import NerPredictor
from elmo_tasks.predictors.text_inputs import read_inputs
from elmo_tasks.readers.entities import read_entities
from elmo_tasks.readers.tag_scheme import TagScheme
from tests.helpers.task_models import Built, Task

Chunk = tuple[str, int, int]


def chunks(tags: Sequence[str]) -> set[Chunk]:
    """Returns the chunks of a column by the rules of conlleval: begin and end of each token."""
    found: set[Chunk] = set()
    start, before, of = 0, "O", ""
    for place, tag in enumerate([*tags, "O"]):
        prefix, _, kind = tag.partition("-")
        inside = before in ("B", "I")
        goes_on = inside and prefix in ("I", "E") and kind == of
        if before != "O" and not goes_on:
            found.add((of, start, place))
        if not goes_on:
            start = place
        before, of = prefix, kind
    return found


@pytest.mark.parametrize("name", ["IOB1", "BIO", "BIOES"])
def test_chunks_of_the_columns_have_the_f1_of_the_metric(name: str, tmp_path: Path) -> None:
    scheme = TagScheme(name)
    source = tmp_path / "in.conll"
    source.write_text(in_scheme(Path("fixtures/ner.txt").read_text(), scheme))
    built = trained(source)
    built.model.get_metrics(reset=True)
    built.model.forward_on_instances(built.instances)
    f1 = built.model.get_metrics(reset=True)["f1-measure-overall"]

    predictor = NerPredictor(built.model, built.reader)
    inputs = read_inputs(str(source), predictor)
    columns = AnswerColumns(inputs.name, tmp_path / "out.conll", predictor)
    text = "".join(columns.lines(answer_inputs(inputs, predictor)))

    rows = [[line.split() for line in block.splitlines()] for block in text.split("\n\n")]
    sentences = [[row[-2:] for row in block if len(row) == 5] for block in rows]
    assert {tag[0] for block in sentences for row in block for tag in row} <= set("BIESO")
    gold, predicted = (
        {
            (k, *chunk)
            for k, block in enumerate(sentences)
            for chunk in chunks([r[i] for r in block])
        }
        for i in (0, 1)
    )
    assert 0.3 < f1 < 1
    assert 2 * len(gold & predicted) / (len(gold) + len(predicted)) == pytest.approx(f1)


def in_scheme(text: str, scheme: TagScheme) -> str:
    """Writes the last column of a file in IOB1 in another scheme."""
    blocks = []
    for block in text.strip().split("\n\n"):
        rows = [line.split() for line in block.splitlines()]
        tags = [row[3] for row in rows]
        if rows[0][0] != "-DOCSTART-":
            tags = scheme.write(read_entities(tags), len(tags))
        blocks.append("\n".join(" ".join([*row[:3], tag]) for row, tag in zip(rows, tags)))
    return "\n\n".join(blocks) + "\n"


def trained(source: Path) -> Built:
    """Returns a tagger that has learnt some of the entities of a file."""
    path = json.dumps(str(source))
    built = Task("ner").build(f"{{ train_data_path: {path}, validation_data_path: {path} }}")
    optimizer = torch.optim.Adam(built.model.parameters(), lr=0.1)
    built.model.train()
    for _ in range(16):
        optimizer.zero_grad()
        built.model(**built.tensors(built.instances))["loss"].backward()
        optimizer.step()
    built.model.eval()
    return built
