from elmo_tasks.bilm.bilm import BiLm
from elmo_tasks.bilm.outputs import BiLmOutput

__all__ = ["BiLm", "BiLmOutput"]
