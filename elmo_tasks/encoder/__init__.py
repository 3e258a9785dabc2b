from elmo_tasks.encoder.encoder import ElmoEncoder

__all__ = ["ElmoEncoder"]
