from elmo_tasks.elmo.mix import ElmoMix
from elmo_tasks.elmo.text_embedder import ElmoTextEmbedder, EmbeddedText
from elmo_tasks.elmo.token_embedder import ElmoBiLmEmbedder

__all__ = ["ElmoBiLmEmbedder", "ElmoMix", "ElmoTextEmbedder", "EmbeddedText"]
