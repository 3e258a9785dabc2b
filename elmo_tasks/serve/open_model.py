from allennlp.models import Archive, load_archive


def open_model(path_or_name: str) -> Archive:
    """
    Loads a model to serve or to analyse.

    # Parameters

    path_or_name : `str`
        The path or address of a `model.tar.gz`, or the folder of a training.
    """
    return load_archive(path_or_name)
