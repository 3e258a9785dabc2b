from elmo_tasks.ray.dataset import embed

__all__ = ["embed"]
