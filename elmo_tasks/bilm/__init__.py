from elmo_tasks.bilm.bilm import BiLm
from elmo_tasks.bilm.from_config import bilm_from_config
from elmo_tasks.bilm.outputs import BiLmOutput

__all__ = ["BiLm", "BiLmOutput", "bilm_from_config"]
