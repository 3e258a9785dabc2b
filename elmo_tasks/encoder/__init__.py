from elmo_tasks.encoder.encoder import ElmoEncoder
from elmo_tasks.encoder.sentence_layers import SentenceLayers

__all__ = ["ElmoEncoder", "SentenceLayers"]
