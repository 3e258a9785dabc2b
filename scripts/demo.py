"""
Trains a small model with ELMo on ten sentences, evaluates it and predicts the sentiment of three.

The script runs AllenNLP's own commands and prints each command before running it. The biLM is the
one in the package. Ten sentences are few, so the figures mean little; training_configs/sst has the
real models.
"""

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
DEMO = Path("runs/demo")

CONFIG = """\
(import '../../training_configs/sst/both.jsonnet')
+ (import '../../fixtures/tiny.libsonnet')
+ { bilm: 'mini', hidden_dim: 32, learning_rate: 0.01 }
+ { trainer+: { num_epochs: 40, patience: null } }
"""

SENTENCES = [
    "The old lighthouse glows with glorious ease.",
    "The train leaves at nine.",
    "The café served the most dreadful soup!",
]


def main() -> None:
    config, sentences = DEMO / "both.jsonnet", DEMO / "sentences.jsonl"
    model, predictions = DEMO / "model", DEMO / "predictions.jsonl"
    (ROOT / DEMO).mkdir(parents=True, exist_ok=True)
    (ROOT / config).write_text(CONFIG, encoding="utf-8")
    write_lines(sentences, [{"sentence": sentence} for sentence in SENTENCES])

    print("Train a biattentive classification network with ELMo at its input and output:")
    # -f deletes the model of an earlier demo.
    allennlp("train", str(config), "-s", str(model), "-f")
    print("\nEvaluate it, here on the same sentences:")
    metrics = DEMO / "metrics.json"
    allennlp("evaluate", str(model), "fixtures/sst.txt", "--output-file", str(metrics))
    show_metrics(metrics)
    print("\nPredict raw text:")
    allennlp("predict", str(model), str(sentences), "--output-file", str(predictions), "--silent")
    show_predictions(predictions)
    print(f"\nThe config is {config}, the model {model}/model.tar.gz.")
    print(f"The full answers are in {predictions}, and the logs are beside it.")


def allennlp(command: str, *arguments: str) -> None:
    """Runs a command of AllenNLP and writes its output to a log, which is shown on failure."""
    python = Path(sys.executable)
    shown = python.relative_to(ROOT) if python.is_relative_to(ROOT) else python
    line = [str(shown), "-m", "allennlp", command, *arguments]
    print(f"  $ {shlex.join(line)}", flush=True)
    log = ROOT / DEMO / f"{command}.log"
    with open(log, "w", encoding="utf-8") as file:
        result = subprocess.run(
            [sys.executable, *line[1:]],
            cwd=ROOT,
            stdout=file,
            stderr=subprocess.STDOUT,
        )
    if result.returncode != 0:
        print(log.read_text(encoding="utf-8"), file=sys.stderr)
        sys.exit(f"allennlp {command} failed; the log above is also in {log}")


def write_lines(path: Path, records: list[dict[str, Any]]) -> None:
    lines = [json.dumps(record, ensure_ascii=False) + "\n" for record in records]
    (ROOT / path).write_text("".join(lines), encoding="utf-8")


def show_metrics(path: Path) -> None:
    metrics = json.loads((ROOT / path).read_text(encoding="utf-8"))
    print(f"    accuracy {metrics['accuracy']:.2f}")
    for place in ("input", "output"):
        weights = [metrics[f"elmo_{place}_s{j}"] for j in range(3)]
        gamma = metrics[f"elmo_{place}_gamma"]
        formatted = ", ".join(f"{weight:.3f}" for weight in weights)
        print(f"    ELMo at the {place}: weights of the layers {formatted}; gamma {gamma:.3f}")


def show_predictions(path: Path) -> None:
    for line in (ROOT / path).read_text(encoding="utf-8").splitlines():
        answer = json.loads(line)
        probability = answer["probabilities"][answer["label"]]
        print(f"    {answer['label']} ({probability:.2f}): {' '.join(answer['tokens'])}")


if __name__ == "__main__":
    main()
