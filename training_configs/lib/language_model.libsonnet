// Pre-training a biLM (Peters et al. 2018, sections 3.1, 3.2 and 3.4; numbers of bilm-tf where the
// paper has none). A variant changes the fields that begin with one word and a double colon:
// `(import '../lib/language_model.libsonnet') { cell_dim: 512 }`.
local bilms = import 'bilms.libsonnet';

{
  local config = self,

  // Text: one tokenized sentence a line; plain, .gz or .xz; a glob pattern is several files.
  train_text:: 'data/corpus/train.txt.xz',
  heldout_text:: 'data/corpus/heldout.txt.gz',
  // The first sentences of the text alone; null for all.
  max_sentences:: null,

  // The biLM.
  cell_dim:: 4096,
  projection_dim:: 512,
  num_layers:: 2,
  filters:: [[1, 32], [2, 32], [3, 64], [4, 128], [5, 256], [6, 512], [7, 1024]],
  num_highway:: 2,
  clip:: 3,
  options:: if config.from_bilm != null then config.chosen_bilm.options else {
    lstm: {
      use_skip_connections: true,
      projection_dim: config.projection_dim,
      cell_clip: config.clip,
      proj_clip: config.clip,
      dim: config.cell_dim,
      n_layers: config.num_layers,
    },
    char_cnn: {
      activation: 'relu',
      filters: config.filters,
      n_highway: config.num_highway,
      embedding: { dim: 16 },
      n_characters: 262,
      max_characters_per_token: 50,
    },
  },
  dropout:: 0.1,

  // What the biLM starts from; two nulls for random weights.
  //
  // `from_archive`: the model.tar.gz of another training, with its softmax and its words. `options`
  // are then those that lie beside it: `options: import 'runs/mini/options.json'`.
  //
  // `from_bilm`: a name in bilms.libsonnet, or an object with `options` and `pretrained_file`. The
  // softmax is new, and for `num_softmax_batches` it is trained alone.
  from_archive:: null,
  from_bilm:: null,
  num_softmax_batches:: 0,

  // The softmax: words seen at least `min_count` times, `num_samples` of them drawn a batch; null
  // for the full softmax.
  min_count:: 3,
  num_samples:: 8192,

  // Sentence by sentence from zeros (`sentences`), or windows with carried state (`windows`).
  read_as:: 'sentences',
  batch_tokens:: 2560,
  window:: { rows: 128, length: 20 },

  dtype:: null,
  num_epochs:: 10,
  // bilm-tf: a rate of 0.2, squares summed from 1.0 on and a norm of at most 10, for the gradient of
  // 20 times our loss. Adagrad divides a gradient by the root of its squares, so that the factor
  // drops out of the step, and is left in the two numbers that are compared with a gradient:
  // 1.0 / 20^2 and 10 / 20.
  optimizer:: { type: 'adagrad', lr: 0.2, initial_accumulator_value: 0.0025 },
  grad_norm:: 0.5,
  scheduler:: null,
  save_every_num_seconds:: 600,

  assert std.member(['sentences', 'windows'], config.read_as) :
         "read_as must be 'sentences' or 'windows', not %s" % std.toString(config.read_as),
  assert config.from_archive == null || config.from_bilm == null :
         'give from_archive or from_bilm, not both: an archive holds a biLM and a softmax',
  assert config.from_bilm == null
         || (std.isObject(config.chosen_bilm)
             && std.objectHas(config.chosen_bilm, 'options')
             && std.objectHas(config.chosen_bilm, 'pretrained_file')) :
         'from_bilm must be one of %s, or an object with options and pretrained_file, not %s'
         % [std.join(', ', std.objectFields(bilms)), std.toString(config.from_bilm)],

  chosen_bilm::
    if std.isString(config.from_bilm) && std.objectHas(bilms, config.from_bilm)
    then bilms[config.from_bilm]
    else config.from_bilm,

  dataset_reader: {
    type: 'elmo_sentences',
    [if config.max_sentences != null then 'max_instances']: config.max_sentences,
  },
  train_data_path: config.train_text,
  validation_data_path: config.heldout_text,
  vocabulary: { type: 'elmo_counted' }
              + if config.from_archive != null
              then { directory: config.from_archive }
              else { min_count: { tokens: config.min_count } },
  datasets_for_vocab_creation: ['train'],
  model: {
    type: 'elmo_language_model',
    bilm: {
      options: config.options,
      state: { sentences: 'reset', windows: 'carry' }[config.read_as],
      requires_grad: true,
      dropout: config.dropout,
      [if config.from_bilm != null then 'pretrained_file']: config.chosen_bilm.pretrained_file,
    },
    dropout: config.dropout,
    [if config.from_archive != null then 'pretrained_file']: config.from_archive,
    [if config.from_bilm != null then 'num_softmax_batches']: config.num_softmax_batches,
    [if config.num_samples != null then 'num_samples']: config.num_samples,
    [if config.dtype != null then 'dtype']: config.dtype,
  },
  local loader = {
    sentences: { type: 'elmo_sentences', batch_tokens: config.batch_tokens },
    windows: { type: 'elmo_windows' } + config.window,
  }[config.read_as],
  data_loader: loader,
  validation_data_loader: loader { shuffle: false },
  trainer: {
    type: 'elmo',
    num_epochs: config.num_epochs,
    optimizer: config.optimizer,
    [if config.scheduler != null then 'learning_rate_scheduler']: config.scheduler,
    grad_norm: config.grad_norm,
    validation_metric: '-perplexity',
    // AllenNLP refuses to look at the clock where several processes train.
    checkpointer: {
      type: 'elmo',
      [if !std.objectHas(config, 'distributed') then 'save_every_num_seconds']:
        config.save_every_num_seconds,
    },
    callbacks: ['elmo_pretraining'],
  },
}
