"""
Makes AllenNLP find the configs and libraries of this package by their names, from any folder:
`allennlp train elmo_tasks:sst/both`, and `import 'elmo_tasks/sst.libsonnet'` in a config.
"""

from functools import partial, wraps

from allennlp.common import params

from elmo_tasks.common.package_data import config_path, import_jsonnet
from elmo_tasks.in_allennlp.change import Change

_cached_path = params.cached_path
_IMPORTS = {"import_callback": import_jsonnet}


@wraps(_cached_path)
def _path_of_config(name, *args, **kwargs):
    return _cached_path(config_path(name), *args, **kwargs)


_REASON = "Configs and libraries of this package are found by their names."

CHANGES = (
    Change(params, "cached_path", _path_of_config, _REASON),
    Change(params, "evaluate_file", partial(params.evaluate_file, **_IMPORTS), _REASON),
    Change(params, "evaluate_snippet", partial(params.evaluate_snippet, **_IMPORTS), _REASON),
)
