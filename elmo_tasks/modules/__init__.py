from elmo_tasks.modules.text_embedder import ElmoBiLmEmbedder, ElmoTextEmbedder, EmbeddedText

__all__ = ["ElmoBiLmEmbedder", "ElmoTextEmbedder", "EmbeddedText"]
