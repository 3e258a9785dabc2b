// Texts of your own with labels: a biLSTM over each sentence, three poolings over all words, and a
// layer before the labels. The numbers are our choice, for some hundred to some ten thousand labels.
local base = import 'base.libsonnet';

base {
  local config = self,

  elmo_lambda:: 0.001,  // Peters et al. for SST.

  // The names of the one or two columns with texts.
  texts:: ['text'],
  // The name of the column with the label.
  label:: 'label',
  // What separates labels if a text may have several, such as ';' (a list in JSON or Parquet needs
  // any value here); null if each text has one label.
  separator:: null,
  // The tokens of a text that are read, and the rest is left out; null for all.
  max_tokens:: null,
  // Inputs that the page of `elmo-tasks serve` shows; they are kept in the archive.
  examples:: [],
  // The language whose spaCy rules cut a text into sentences and words.
  language:: 'en',
  // Whether a word's vector is looked up in lower case. Characters and ELMo see the raw word.
  lowercase:: true,
  // The width of the biLSTM in one direction, and half that of the layer before the labels.
  hidden_dim:: 100,
  dropout:: 0.5,
  batch_size:: 32,
  num_epochs:: 40,
  patience:: 8,
  learning_rate:: 0.001,

  assert std.isArray(config.texts) && std.member([1, 2], std.length(config.texts)) :
         'texts must be a list of the names of one or two columns, not %s'
         % std.toString(config.texts),

  // The maximum, the mean and an attention over the words.
  local text_dim = 3 * (2 * config.hidden_dim + config.output_elmo_dim),
  // Of two texts: both vectors, their difference and their product.
  local num_vectors = if std.length(config.texts) == 1 then 1 else 4,

  token_indexers+:: { tokens+: { lowercase_tokens: config.lowercase } },

  dataset_reader: {
    type: 'elmo_classify',
    texts: config.texts,
    label: config.label,
    [if config.separator != null then 'separator']: config.separator,
    [if config.max_tokens != null then 'max_tokens']: config.max_tokens,
    language: config.language,
    [if config.examples != [] then 'examples']: config.examples,
    token_indexers: config.token_indexers,
  },
  train_data_path: 'data/classify/train.csv',
  validation_data_path: 'data/classify/dev.csv',

  model: config.regularized {
    type: 'elmo_classifier',
    text_embedder: config.text_embedder,
    encoder: {
      type: 'elmo_lstm',
      input_size: config.input_dim,
      hidden_size: config.hidden_dim,
    },
    feedforward: {
      input_dim: num_vectors * text_dim,
      num_layers: 1,
      hidden_dims: 2 * config.hidden_dim,
      activations: 'relu',
      dropout: config.dropout,
    },
    dropout: config.dropout,
  },

  data_loader: {
    batch_sampler: { type: 'bucket', batch_size: config.batch_size, sorting_keys: ['tokens'] },
  },
  trainer+: {
    optimizer: { type: 'elmo_adam', lr: config.learning_rate },
    grad_norm: 5.0,
    num_epochs: config.num_epochs,
    patience: config.patience,
    validation_metric: if config.separator == null then '+accuracy' else '+f1',
  },
}
