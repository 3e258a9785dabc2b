// Probes of `elmo-tasks probe`: how well the tags of words follow from each layer of a biLM.
local chosen_bilm = import 'chosen_bilm.libsonnet';

{
  local config = self,

  // A name in bilms.libsonnet, a folder, or an object with `options` and `pretrained_file`.
  bilm:: 'base',
  // The dtype of the biLM's matrix products: 'float32', 'bfloat16', or 'auto', which is bfloat16 on
  // a CPU or GPU that has units for it and float32 elsewhere. A `dtype` in `bilm` comes first.
  bilm_dtype:: 'auto',
  // Where the biLM's layers are stored: null for nowhere, a folder, or an object with the arguments
  // of `LayerStore` (elmo_tasks/elmo/store/layer_store.py).
  store:: null,
  // The type, 'linear' or 'nearest', and arguments of LinearProbe or NearestProbe
  // (elmo_tasks/analysis/probe).
  probe:: { type: 'linear' },

  local bilm = chosen_bilm('bilm', config.bilm),
  assert std.isObject(bilm),

  local store = if std.isString(config.store) then { path: config.store } else config.store,

  model: config.probe {
    bilm: { dtype: config.bilm_dtype } + bilm { [if store != null then 'store']: store },
  },
}
