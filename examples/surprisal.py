"""
Writes how surprising each word of a text is, for a study of reading times: a table with the bits
that the words before it leave, and those that the words after it leave.

    python examples/surprisal.py fixtures/play.txt surprisal.tsv
"""

import csv
import math
import sys

from elmo_tasks import LanguageModel


def main(text: str, table: str) -> None:
    model = LanguageModel.from_pretrained("base")
    with open(text, encoding="utf-8") as file:
        sentences = [line.split() for line in file if line.strip()]
    with open(table, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t")
        writer.writerow(["sentence", "position", "word", "forward", "backward"])
        for index, (words, score) in enumerate(zip(sentences, model.score(sentences))):
            # Natural logarithms of probabilities become bits.
            bits = [[-p / math.log(2) for p in ps] for ps in (score.forward, score.backward)]
            for position, row in enumerate(zip(words, *bits)):
                writer.writerow([index, position, row[0], *(f"{bit:.3f}" for bit in row[1:])])
    print(f"perplexity: {model.perplexity(sentences).mean:.1f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
