from elmo_tasks.bilm.bilm import BiLm, BiLmOutput

__all__ = ["BiLm", "BiLmOutput"]
