"""
Registers the components and the architecture with spaCy. spaCy imports this module in every process
that makes a pipeline, so a factory imports its class only when it is called.
"""

from typing import Any, Union

from spacy import registry
from spacy.language import Language


@Language.factory(
    "elmo",
    assigns=["doc._.elmo"],
    default_config={"bilm": "base", "place": None, "layers": "all", "device": "cpu"},
)
def elmo(
    nlp: Language,
    name: str,
    bilm: str,
    place: Union[str, None],
    layers: Union[str, int],
    device: str,
) -> Any:
    """Makes an `ElmoComponent`."""
    from elmo_tasks.spacy.elmo import ElmoComponent

    return ElmoComponent(nlp, name, bilm, place, layers, device)


@Language.factory("elmo_coref", assigns=["doc._.elmo_coref"])
def elmo_coref(nlp: Language, name: str, model: str) -> Any:
    """Makes a `CoreferenceComponent`."""
    from elmo_tasks.spacy.components import CoreferenceComponent

    return CoreferenceComponent(nlp, name, model)


@Language.factory("elmo_ner", assigns=["doc.ents", "token.ent_iob", "token.ent_type"])
def elmo_ner(nlp: Language, name: str, model: str) -> Any:
    """Makes an `EntityComponent`."""
    from elmo_tasks.spacy.components import EntityComponent

    return EntityComponent(nlp, name, model)


@Language.factory("elmo_sentiment", assigns=["doc.cats"])
def elmo_sentiment(nlp: Language, name: str, model: str) -> Any:
    """Makes a `SentimentComponent`."""
    from elmo_tasks.spacy.components import SentimentComponent

    return SentimentComponent(nlp, name, model)


@Language.factory("elmo_srl", assigns=["doc._.elmo_srl"])
def elmo_srl(nlp: Language, name: str, model: str) -> Any:
    """Makes a `RolesComponent`."""
    from elmo_tasks.spacy.components import RolesComponent

    return RolesComponent(nlp, name, model)


@Language.factory("elmo_tagger", assigns=["token.tag"])
def elmo_tagger(nlp: Language, name: str, model: str) -> Any:
    """Makes a `TaggerComponent`."""
    from elmo_tasks.spacy.components import TaggerComponent

    return TaggerComponent(nlp, name, model)


@Language.factory("elmo_textcat", assigns=["doc.cats"])
def elmo_textcat(nlp: Language, name: str, model: str) -> Any:
    """Makes a `TextcatComponent`."""
    from elmo_tasks.spacy.components import TextcatComponent

    return TextcatComponent(nlp, name, model)


@registry.architectures("elmo_tasks.Tok2Vec.v1")
def tok2vec(
    width: int, bilm: str = "base", words: Any = None, store: Union[str, None] = None
) -> Any:
    """Makes a layer of ELMo (see `elmo_tasks.spacy.tok2vec.tok2vec`)."""
    from elmo_tasks.spacy.tok2vec import tok2vec

    return tok2vec(width, bilm, words, store)
