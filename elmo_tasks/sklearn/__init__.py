from elmo_tasks.sklearn.features import ElmoFeatures

__all__ = ["ElmoFeatures"]
