from elmo_tasks.elmo.elmo import Elmo
from elmo_tasks.elmo.encoder import ElmoEncoder
from elmo_tasks.elmo.mix import ElmoMix
from elmo_tasks.elmo.sentence_layers import SentenceLayers

__all__ = ["Elmo", "ElmoEncoder", "ElmoMix", "SentenceLayers"]
