"""Reports on the occurrences of a word, for the tests of their texts and charts."""

from typing import Any

# Two dollars do not make a formula here, and a long word does not fit into every window.
WORDS = "for $ 5 or $_6 one can play at a table of incomprehensibilities and nothing else".split()


def neighbors_report(*sizes: int, ranked: bool = False) -> dict[str, Any]:
    """Returns a report on clusters of these sizes, with the cosines 1, 0.99, 0.98, ..."""
    groups = [
        [
            {
                "cosine": 1 - 0.01 * n,
                "words": WORDS,
                "position": WORDS.index("play"),
                "point": [float(k), float(n)],
            }
            for n in range(size)
        ]
        for k, size in enumerate(sizes, start=1)
    ]
    return {
        "word": "play",
        "layer": "LSTM 2",
        "bilm": "runs/a/path/of/some/length/to/the/file/model.tar.gz",
        "text": "text.txt",
        "num_sentences": 1234,
        "num_occurrences": 3 * sum(sizes),
        "num_sentences_of_other_forms": 0,
        "beside": {"words": ["They", "play"], "position": 1} if ranked else None,
        "groups": groups,
        "nearest_words_of_layer_0": [{"word": "ball", "cosine": 0.625}],
        "nearest_words_of_file": [{"word": "game", "cosine": 0.5}] if ranked else [],
    }
