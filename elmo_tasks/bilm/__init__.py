from elmo_tasks.bilm.bilm import BiLm
from elmo_tasks.bilm.frozen_bilm import FrozenBiLm
from elmo_tasks.bilm.make_bilm import make_bilm
from elmo_tasks.bilm.outputs import BiLmOutput

__all__ = ["BiLm", "BiLmOutput", "FrozenBiLm", "make_bilm"]
