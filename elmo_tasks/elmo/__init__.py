from elmo_tasks.elmo.elmo import Elmo
from elmo_tasks.elmo.mix import ElmoMix

__all__ = ["Elmo", "ElmoMix"]
