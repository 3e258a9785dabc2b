from elmo_tasks.elmo.store.layer_store import LayerStore

__all__ = ["LayerStore"]
