"""
Makes AllenNLP find the configs and libraries of this package by their names, from any folder:
`allennlp train elmo_tasks:sst/both`, and `import 'elmo_tasks/sst.libsonnet'` in a config.
"""

import functools

from allennlp.common import params

from elmo_tasks.common.package_data import config_path, import_jsonnet

_cached_path = params.cached_path


@functools.wraps(_cached_path)
def _path_of_config(name, *args, **kwargs):
    return _cached_path(config_path(name), *args, **kwargs)


# `Params.from_file` finds these functions by their names.
params.cached_path = _path_of_config
params.evaluate_file = functools.partial(params.evaluate_file, import_callback=import_jsonnet)
params.evaluate_snippet = functools.partial(params.evaluate_snippet, import_callback=import_jsonnet)
