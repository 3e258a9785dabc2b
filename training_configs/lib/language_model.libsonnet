// Pre-training of a biLM (Peters et al. 2018, sections 3.1, 3.2 and 3.4). Where the paper gives no
// number, it is that of bilm-tf. The fields with `::` are the choices. A config changes a choice
// with a single colon: `(import '../lib/language_model.libsonnet') { cell_dim: 512 }`.
local chosen_bilm = import 'chosen_bilm.libsonnet';
local vectors = import 'vectors.libsonnet';

// The tasks whose text a biLM can be continued on (Peters et al. 2018, supplement A.1).
local tasks = {
  coref: import 'coref.libsonnet',
  ner: import 'ner.libsonnet',
  snli: import 'snli.libsonnet',
  squad: import 'squad.libsonnet',
  srl: import 'srl.libsonnet',
  sst: import 'sst.libsonnet',
};

// The biLMs whose softmax the package has.
local with_softmax = ['base'];

{
  local config = self,
  local has_task = config.task != null,
  local task_config = tasks[config.task],
  // The reader of the validation data gives whole sentences of SST and whole passages of SQuAD.
  local task_reader =
    std.get(task_config, 'validation_dataset_reader', task_config.dataset_reader),

  // Files with one tokenized sentence on each line: plain text, .gz or .xz. A glob pattern names
  // several files.
  train_text:: if has_task then task_config.train_data_path else 'data/corpus/train.txt.xz',
  heldout_text:: if has_task then task_config.validation_data_path else 'data/corpus/heldout.txt.gz',
  // The task whose sentences are the text, without labels: 'coref', 'ner', 'snli', 'squad', 'srl'
  // or 'sst'; null for a text of its own.
  task:: null,
  // Trains on the first sentences of `train_text` only; null for all. The held-out text is read
  // whole.
  max_sentences:: null,

  // The biLM.
  cell_dim:: 4096,
  projection_dim:: 512,
  num_layers:: 2,
  // The character CNN; null for a table of the words of the softmax in its place, as in bilm-tf's
  // biLMs of words. All other words then share one vector.
  filters:: [[1, 32], [2, 32], [3, 64], [4, 128], [5, 256], [6, 512], [7, 1024]],
  num_highway:: 2,
  // A wider character costs no time on a CPU, which looks up the terms of the convolutions.
  char_dim:: 16,
  clip:: 3,
  options:: if config.from_bilm != null then config.chosen_bilm.options
  else if config.from_archive != null then
    error 'from_archive needs the options of its biLM: options: import \'FOLDER/options.json\''
  else {
    lstm: {
      use_skip_connections: true,
      projection_dim: config.projection_dim,
      cell_clip: config.clip,
      proj_clip: config.clip,
      dim: config.cell_dim,
      n_layers: config.num_layers,
    },
    [if config.filters != null then 'char_cnn']: {
      activation: 'relu',
      filters: config.filters,
      n_highway: config.num_highway,
      embedding: { dim: config.char_dim },
      n_characters: 262,
      max_characters_per_token: 50,
    },
  },
  dropout:: 0.1,

  // The biLM that training starts from. If both fields are null, its weights are random.
  //
  // `from_archive`: the model.tar.gz of another training, whose softmax and words are used as well.
  // It needs the options.json beside the archive: `options: import 'runs/base/options.json'`.
  //
  // `from_bilm`: a name in bilms.libsonnet, a folder, or an object with `options` and
  // `pretrained_file`.
  //
  // `from_softmax`: the name or folder of the same biLM, if `elmo-tasks pack` wrote it with its
  // softmax, from which the softmax then starts. With null, the softmax is new, and only the softmax
  // is trained in the first `num_softmax_batches` batches.
  from_archive:: null,
  from_bilm:: null,
  from_softmax:: if std.member(with_softmax, config.from_bilm) then config.from_bilm,
  num_softmax_batches:: 0,

  // The word vectors from which a biLM of random weights starts: a name in vectors.libsonnet, a file
  // such as GloVe's, or null for none. The character CNN first learns to give them, in
  // `num_vector_batches` batches of 512 words, and the softmax's rows begin as them. A biLM that is
  // trained already has `num_vector_batches: 0`.
  start_from_vectors:: null,
  num_vector_batches:: 3000,
  // The CNN goes on learning them beside the language model: the weight of their mean squared error,
  // relative to that of zeros, and the number of words drawn for each batch.
  vector_weight:: 1,
  num_vector_words:: 256,

  // The classes of the softmax are the words seen at least `min_count` times. `num_samples` of them
  // are drawn for each batch; null computes the full softmax.
  min_count:: 3,
  num_samples:: 8192,

  // 'sentences': each sentence starts from a state of zeros. 'windows': the text is read in
  // windows, and each window starts from the state after the one before. Both have the same words
  // to predict.
  read_as:: 'sentences',
  batch_tokens:: 2560,
  window:: { rows: 128, length: 20 },

  // The dtype of products while training: 'float32', 'bfloat16', or 'auto', which is bfloat16 on a
  // CPU or GPU that has units for it and float32 elsewhere.
  dtype:: 'auto',
  num_epochs:: 10,
  // bilm-tf has a rate of 0.2, an initial accumulator of 1.0 and a gradient norm of at most 10, and
  // its loss is 20 times ours. Adagrad divides a gradient by the root of the sum of its squares, so
  // the factor of 20 cancels in the rate. It remains in the two numbers that are compared with a
  // gradient: 1.0 / 20^2 and 10 / 20.
  optimizer:: { type: 'adagrad', lr: 0.2, initial_accumulator_value: 0.0025 },
  grad_norm:: 0.5,
  scheduler:: null,
  save_every_num_seconds:: 600,

  assert std.member(['sentences', 'windows'], config.read_as) :
         "read_as must be 'sentences' or 'windows', not %s" % std.toString(config.read_as),
  assert !has_task || std.objectHas(tasks, config.task) :
         'task must be one of %s, or null, not %s'
         % [std.join(', ', std.objectFields(tasks)), std.toString(config.task)],
  assert config.from_archive == null || config.from_bilm == null :
         'give from_archive or from_bilm, not both: an archive holds a biLM and a softmax',
  assert config.start_from_vectors == null || std.isString(config.start_from_vectors) :
         'start_from_vectors must be one of %s, a file, or null, not %s'
         % [std.join(', ', std.objectFields(vectors)), std.toString(config.start_from_vectors)],
  assert config.start_from_vectors == null || config.num_vector_batches == 0
         || (config.from_archive == null && config.from_bilm == null) :
         'start_from_vectors would begin a trained biLM anew: '
         + 'give num_vector_batches: 0, so that it only goes on learning the vectors',
  assert config.from_bilm == null || std.isObject(config.chosen_bilm),

  assert config.from_softmax == null || config.from_bilm != null :
         'from_softmax is the softmax of from_bilm, which is null',

  chosen_bilm::
    if config.from_bilm != null then chosen_bilm('from_bilm', config.from_bilm),

  dataset_reader: {
    type: 'elmo_sentences',
    [if config.max_sentences != null then 'max_instances']: config.max_sentences,
    [if has_task then 'reader']: task_reader,
  },
  validation_dataset_reader: std.mergePatch(config.dataset_reader, { max_instances: null }),
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
    dtype: config.dtype,
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
    checkpointer: { type: 'elmo', save_every_num_seconds: config.save_every_num_seconds },
    callbacks: std.prune([
      if config.from_softmax != null
      then { type: 'elmo_softmax_start', bilm: config.from_softmax },
      if config.start_from_vectors != null then {
        type: 'elmo_vector_start',
        pretrained_file:
          std.get(vectors, config.start_from_vectors, { pretrained_file: config.start_from_vectors })
          .pretrained_file,
        num_batches: config.num_vector_batches,
        weight: config.vector_weight,
        num_words: config.num_vector_words,
      },
      'elmo_pretraining',
    ]),
  },
}
