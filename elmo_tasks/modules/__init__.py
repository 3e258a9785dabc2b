from elmo_tasks.modules.text_embedder import ElmoTextEmbedder, EmbeddedText
from elmo_tasks.modules.token_embedder import ElmoBiLmEmbedder

__all__ = ["ElmoBiLmEmbedder", "ElmoTextEmbedder", "EmbeddedText"]
