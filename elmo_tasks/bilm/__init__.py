from elmo_tasks.bilm.bilm import BiLm, BiLmOutput
from elmo_tasks.bilm.frozen_bilm import FrozenBiLm
from elmo_tasks.bilm.make_bilm import make_bilm

__all__ = ["BiLm", "BiLmOutput", "FrozenBiLm", "make_bilm"]
