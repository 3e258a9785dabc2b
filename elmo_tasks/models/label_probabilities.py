from typing import Any

from allennlp.data import Vocabulary


def label_probabilities(
    vocab: Vocabulary, output: dict[str, Any], namespace: str = "labels"
) -> dict[str, Any]:
    """
    Adds the `label` of each instance, its most probable one, and its `probabilities`, a dictionary
    with the names of all labels as keys, to the outputs of a classifier.
    """
    names = vocab.get_index_to_token_vocabulary(namespace)
    by_name = [
        {names[index]: probability for index, probability in enumerate(row)}
        for row in output["class_probabilities"].tolist()
    ]
    labels = [max(row, key=row.__getitem__) for row in by_name]
    return {**output, "label": labels, "probabilities": by_name}
