"""
Trains a small model with ELMo on ten sentences, evaluates it and predicts the sentiment of three.

Prints each command before it runs it. Ten sentences are few, so the figures mean little.
"""

import os
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DEMO = Path("runs/demo")

CONFIG = """\
(import '../../training_configs/sst/both.jsonnet')
+ (import '../../fixtures/tiny.libsonnet')
+ { bilm: 'mini', hidden_dim: 32, learning_rate: 0.01 }
+ { trainer+: { num_epochs: 10, patience: null } }
"""

SENTENCES = """\
The old lighthouse glows with glorious ease.
The train leaves at nine.
The café served the most dreadful soup!
"""

STEPS = {
    # -f deletes the model of an earlier demo.
    "Train a biattentive classification network with ELMo at its input and output:": (
        f"train {DEMO}/both.jsonnet -s {DEMO}/model -f"
    ),
    "Evaluate it, here on the same sentences:": f"evaluate {DEMO}/model fixtures/sst.txt",
    "Predict raw text:": f"predict {DEMO}/model {DEMO}/sentences.txt",
}


def main() -> None:
    os.chdir(ROOT)
    DEMO.mkdir(parents=True, exist_ok=True)
    (DEMO / "both.jsonnet").write_text(CONFIG, encoding="utf-8")
    (DEMO / "sentences.txt").write_text(SENTENCES, encoding="utf-8")
    for title, command in STEPS.items():
        print(f"\n{title}\n  $ elmo-tasks {command}", flush=True)
        run = subprocess.run([sys.executable, "-m", "elmo_tasks", *shlex.split(command)])
        if run.returncode != 0:
            sys.exit(run.returncode)


if __name__ == "__main__":
    main()
