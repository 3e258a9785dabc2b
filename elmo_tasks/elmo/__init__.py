from elmo_tasks.elmo.mix import ElmoMix

__all__ = ["ElmoMix"]
