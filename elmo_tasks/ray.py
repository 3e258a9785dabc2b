"""
Ray Data with ELMo: `elmo_tasks.ray.embed`. This is a module and not a package, because AllenNLP's
`--include-package elmo_tasks` imports every package below by its last name alone, here Ray itself.
"""

from elmo_tasks.on_ray.dataset import embed

__all__ = ["embed"]
