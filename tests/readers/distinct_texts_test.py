from allennlp.data import Instance, Token
from allennlp.data.fields import LabelField, ListField, TextField
from allennlp.data.token_indexers import ELMoTokenCharactersIndexer, SingleIdTokenIndexer
from allennlp.modules.elmo import batch_to_ids

from elmo_tasks.readers.distinct_texts import DistinctTexts
from elmo_tasks.readers.indexers import CharIdsIndexer


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


def test_words_that_an_indexer_gives_other_ids_are_another_text() -> None:
    fields = {
        str(tokens): TextField([Token("x")], {"elmo": ELMoTokenCharactersIndexer(None, tokens)})
        for tokens in (None, {"x": 5})
    }

    texts = DistinctTexts([Instance(fields)])

    assert len(texts) == 2
    assert texts[0].tolist() != texts[1].tolist()


def test_a_text_is_the_same_with_the_indexers_elmo_characters_and_elmo_char_ids() -> None:
    indexers = {"ours": CharIdsIndexer(), "theirs": ELMoTokenCharactersIndexer()}
    fields = {
        name: TextField([Token("a"), Token("b")], {"elmo": indexer})
        for name, indexer in indexers.items()
    }

    texts = DistinctTexts([Instance(fields)])

    assert [text.tolist() for text in texts] == [batch_to_ids([["a", "b"]])[0].tolist()]
