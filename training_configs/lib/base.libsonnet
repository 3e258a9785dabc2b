// The choices that all tasks share, such as where ELMo joins the model, and the indexers, widths
// and regularizers that follow from them.
//
// The fields with `::` are the choices. A config changes a choice with a single colon, as in
// `(import '../lib/sst.libsonnet') { elmo_at: ['input'] }`. A misspelt choice thus becomes a field
// of the config, which `elmo-tasks train` refuses.
local chosen_bilm = import 'chosen_bilm.libsonnet';

// The names that `word_vectors` can have, with the arguments of AllenNLP's `embedding`.
local vectors = { learned: { embedding_dim: 100 } } + import 'vectors.libsonnet';

local names(known) = std.join(', ', std.objectFields(known));
local known_or_own(choice, known) =
  if std.isString(choice) && choice in known then known[choice] else choice;
local widths(characters) =
  if std.isArray(characters.width) then characters.width else [characters.width];
local character_cnn(characters) = {
  type: 'elmo_character_encoding',
  embedding: { embedding_dim: characters.embedding_dim, vocab_namespace: 'token_characters' },
  encoder: {
    type: 'cnn',
    embedding_dim: characters.embedding_dim,
    num_filters: characters.num_filters,
    ngram_filter_sizes: widths(characters),
  },
  dropout: characters.dropout,
};
local is_count(value) = std.isNumber(value) && value >= 0 && value == std.floor(value);
local is_one_of(value, choices) = std.member(choices, value);

{
  local config = self,

  // The places where ELMo joins the model: 'input', 'output', both or none.
  elmo_at:: [],
  // The layers of the biLM that ELMo mixes: 'all'; 'concat' for all side by side; 'last'; or
  // the index of one layer.
  elmo_layers:: 'all',
  // Weight of the L2 penalty on the mix weights before their softmax. Gamma has no penalty.
  elmo_lambda:: error 'a task sets elmo_lambda',
  elmo_dropout:: 0.5,
  // What each layer is normalized over to mean 0 and variance 1: 'batch', 'sentence', or null for
  // no normalization.
  elmo_layer_norm:: null,
  // A name in bilms.libsonnet, a folder, or an object with `options` and `pretrained_file`.
  bilm:: 'base',
  // The dtype of a frozen biLM's matrix products: 'float32', 'bfloat16', or 'auto', which is
  // bfloat16 on a CPU or GPU that has units for it and float32 elsewhere. A `dtype` in `bilm` comes
  // first.
  bilm_dtype:: 'auto',
  // Where the biLM's layers are stored, so that the biLM reads each sentence once: null for
  // nowhere, a folder, or an object with the arguments of `LayerStore`
  // (elmo_tasks/elmo/store/layer_store.py).
  store:: null,
  // 'learned', 'glove.6B.100d' or 'glove.840B', or an object with the arguments of AllenNLP's `embedding`.
  word_vectors:: 'learned',
  // Words that the training text has less often share the vector of the unknown word, which is
  // thus trained. A word that a file has vectors for has its own, however rare it is.
  min_count:: 2,
  // If vectors come from a text file: from how many of its first words, which are the most frequent
  // ones, the vocabulary has each, whether the training text has it or not; null for all of them.
  // The other words of the file are in the vocabulary if the training text has them.
  max_pretrained_words:: 200000,
  // A CNN over the characters of each word, whose output joins the word's vector: an object with
  // `embedding_dim`, `num_filters`, `width` and `dropout`, or null for no CNN. `width` may be a list
  // of widths, each with `num_filters` filters.
  characters:: null,

  // jsonnet checks these whenever a field is read, so they are cheap.
  assert config.elmo_at == [] || config.elmo_at == ['input'] || config.elmo_at == ['output']
         || config.elmo_at == ['input', 'output'] || config.elmo_at == ['output', 'input'] :
         "elmo_at must be a list of the places 'input' and 'output', each once at most, not %s"
         % std.toString(config.elmo_at),
  assert is_one_of(config.elmo_layers, ['all', 'concat', 'last']) || std.isNumber(config.elmo_layers) :
         "elmo_layers must be 'all', 'concat', 'last' or the index of one layer, not %s"
         % std.toString(config.elmo_layers),
  assert std.isNumber(config.elmo_lambda) && config.elmo_lambda >= 0 :
         'elmo_lambda must be 0 or more, not %s' % std.toString(config.elmo_lambda),
  assert std.isNumber(config.elmo_dropout) && config.elmo_dropout >= 0 && config.elmo_dropout < 1 :
         'elmo_dropout must be from 0 to below 1, not %s' % std.toString(config.elmo_dropout),
  assert is_one_of(config.elmo_layer_norm, [null, 'batch', 'sentence']) :
         "elmo_layer_norm must be null, 'batch' or 'sentence', not %s"
         % std.toString(config.elmo_layer_norm),
  assert std.isObject(config.chosen_bilm),
  assert config.store == null || std.isString(config.store) || std.isObject(config.store) :
         'store must be null, a folder, or an object with path, dtype or memory, not %s'
         % std.toString(config.store),
  assert local vectors = config.chosen_vectors;
         std.isObject(vectors) && 'embedding_dim' in vectors :
         ('word_vectors must be one of %s, or an object with embedding_dim and, for vectors of a '
          + 'file, pretrained_file, not %s')
         % [names(vectors), std.toString(config.word_vectors)],

  assert is_count(config.min_count) && config.min_count > 0 :
         'min_count must be an integer of 1 or more, not %s' % std.toString(config.min_count),
  assert config.max_pretrained_words == null || is_count(config.max_pretrained_words) :
         'max_pretrained_words must be an integer of 0 or more, or null, not %s'
         % std.toString(config.max_pretrained_words),

  // The fields below follow from the choices. A task's libsonnet reads them.

  chosen_bilm:: chosen_bilm('bilm', config.bilm),
  chosen_vectors:: known_or_own(config.word_vectors, vectors),

  local has_elmo = std.length(config.elmo_at) > 0,
  local store = if std.isString(config.store) then { path: config.store } else config.store,
  local elmo_at(place) = std.member(config.elmo_at, place),
  local elmo_dim(place) =
    local lstm = config.chosen_bilm.options.lstm;
    local num_layers = if config.elmo_layers == 'concat' then lstm.n_layers + 1 else 1;
    if elmo_at(place) then 2 * num_layers * lstm.projection_dim else 0,

  // AllenNLP's `embedding` also reads a matrix in HDF5, which has no words.
  local vector_file = std.get(config.chosen_vectors, 'pretrained_file'),
  local has_words = vector_file != null
                    && !std.endsWith(vector_file, '.h5') && !std.endsWith(vector_file, '.hdf5'),
  local takes_lower_case =
    has_words && std.get(config.chosen_vectors, 'type') == 'elmo_word_vectors',
  // With that indexer and embedder, a word that the file lacks needs no row of its own.
  local has_rows_of_the_file_alone =
    takes_lower_case && config.token_indexers.tokens.type == 'elmo_known_case_id',

  local has_characters = config.characters != null,
  local characters_dim = if has_characters then
    config.characters.num_filters * std.length(widths(config.characters)) else 0,

  // The width of x_k with the ELMo of the input, and the width of the ELMo that joins h_k.
  input_dim:: config.chosen_vectors.embedding_dim + characters_dim + elmo_dim('input'),
  output_elmo_dim:: elmo_dim('output'),

  token_indexers:: {
    // Words that the file lacks are looked up in lower case.
    tokens: { type: if takes_lower_case then 'elmo_known_case_id' else 'elmo_word_id' },
    [if has_characters then 'token_characters']: {
      type: 'elmo_word_characters',
      min_padding_length: std.foldl(std.max, widths(config.characters), 0),
    },
    [if has_elmo then 'elmo']: { type: 'elmo_char_ids' },
  },

  text_embedder:: {
    local mix = {
      layers: config.elmo_layers,
      dropout: config.elmo_dropout,
      [if config.elmo_layer_norm != null then 'layer_norm']: config.elmo_layer_norm,
    },
    words: {
      token_embedders: {
        tokens: { type: 'embedding' } + config.chosen_vectors,
        [if has_characters then 'token_characters']: character_cnn(config.characters),
      },
    },
    [if has_elmo then 'bilm']: { dtype: config.bilm_dtype } + config.chosen_bilm {
      [if store != null then 'store']: store,
    },
    [if elmo_at('input') then 'input_mix']: mix,
    [if elmo_at('output') then 'output_mix']: mix,
  },

  // If the vocabulary had words of the validation data that the training data lacks, learned vectors
  // of these would stay random, and validation would be easier than a test.
  datasets_for_vocab_creation: ['train'],
  vocabulary: {
    min_count: if has_rows_of_the_file_alone then {} else { tokens: config.min_count },
    [if has_words then 'pretrained_files']: { tokens: vector_file },
    [if has_words then 'min_pretrained_embeddings']: {
      tokens: if config.max_pretrained_words == null then -1 else config.max_pretrained_words,
    },
    [if has_rows_of_the_file_alone then 'only_include_pretrained_words']: true,
  },

  // A task adds to the trainer. This checkpointer writes a checkpoint completely or not at all, and
  // leaves out a frozen biLM.
  trainer: { type: 'elmo', checkpointer: 'elmo' },

  // Whether word vectors start from random values.
  learns_vectors:: !std.objectHas(config.chosen_vectors, 'pretrained_file'),

  // The regularizer of a task's `model`. A mix of one layer has no weights to regularize.
  regularized:: {
    [if has_elmo && config.elmo_layers == 'all' && config.elmo_lambda > 0 then 'regularizer']: {
      regexes: [['scalar_parameters', { type: 'l2', alpha: config.elmo_lambda }]],
    },
  },
}
