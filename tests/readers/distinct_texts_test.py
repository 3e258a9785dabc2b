from allennlp.data import Instance, Token
from allennlp.data.fields import LabelField, ListField, TextField
from allennlp.data.token_indexers import ELMoTokenCharactersIndexer, SingleIdTokenIndexer
from allennlp.modules.elmo import batch_to_ids

from elmo_tasks.readers.distinct_texts import DistinctTexts


def test_texts_in_lists_and_of_several_fields_are_found_once() -> None:
    def text(words: str, indexed: bool = True) -> TextField:
        indexer = ELMoTokenCharactersIndexer() if indexed else SingleIdTokenIndexer()
        return TextField([Token(word) for word in words.split()], {"any": indexer})

    instances = [
        Instance({"premise": text("a b"), "hypothesis": text("c"), "label": LabelField("x")}),
        Instance({"options": ListField([ListField([text("c"), text("d e f")])])}),
        Instance({"words": text("g", indexed=False), "empty": text("")}),
    ]

    texts = DistinctTexts(instances)

    assert len(texts) == 3
    for index, words in enumerate(["a b", "c", "d e f"]):
        assert texts[index].tolist() == batch_to_ids([words.split()])[0].tolist()
