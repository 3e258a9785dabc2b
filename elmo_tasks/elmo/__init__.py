from elmo_tasks.elmo.mix import ElmoMix
from elmo_tasks.elmo.text_embedder import EmbeddedText, ElmoTextEmbedder
from elmo_tasks.elmo.token_embedder import ElmoBiLmEmbedder

__all__ = ["ElmoBiLmEmbedder", "ElmoMix", "ElmoTextEmbedder", "EmbeddedText"]
