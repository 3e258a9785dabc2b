from elmo_tasks.store.layer_source import LayerSource
from elmo_tasks.store.layer_store import LayerStore

__all__ = ["LayerSource", "LayerStore"]
