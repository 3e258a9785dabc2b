// Tokens of your own with tags, or spans of them with labels. Tags have one biLSTM and a softmax,
// spans the CRF of Peters et al. 2018 for named entities. The other numbers are our choice, for some
// hundred to some ten thousand sentences.
local base = import 'base.libsonnet';

base {
  local config = self,

  // Peters et al. for named entities.
  elmo_lambda:: 0.1,
  // ELMo needs no dropout of its own: it is part of the inputs of the encoder and of the tag scores,
  // which have dropout.
  elmo_dropout:: 0,

  // What is learnt: the name of a column of CoNLL-U or of `columns`, or of a field in JSON.
  column:: 'upos',
  // Whether spans of tokens have labels; tags are then in IOB1, BIO or BIOUL.
  spans:: false,
  // The names of all columns of files in columns; one must be 'word'.
  columns:: ['word', 'tag'],
  // Inputs that the page of `elmo-tasks serve` shows; they are kept in the archive.
  examples:: [],
  // The language whose spaCy rules tokenize raw text.
  language:: 'en',
  // Whether a word's vector is looked up in lower case. Characters and ELMo see the raw word.
  lowercase:: true,
  characters:: { embedding_dim: 16, num_filters: 128, width: 3, dropout: 0 },  // Peters et al.
  // The width of the biLSTM in one direction.
  hidden_dim:: 200,  // Peters et al., the first of two.
  dropout:: 0.5,
  batch_size:: 32,
  num_epochs:: 40,
  patience:: 8,
  learning_rate:: 0.001,

  local encoder = {
    type: 'elmo_lstm',
    input_size: config.input_dim,
    hidden_size: config.hidden_dim,
  },

  token_indexers+:: { tokens+: { lowercase_tokens: config.lowercase } },

  dataset_reader: {
    type: 'elmo_tag',
    column: config.column,
    spans: config.spans,
    columns: config.columns,
    [if config.examples != [] then 'examples']: config.examples,
    token_indexers: config.token_indexers,
    language: config.language,
  },
  train_data_path: 'data/tag/train.conllu',
  validation_data_path: 'data/tag/dev.conllu',

  model: config.regularized {
    text_embedder: config.text_embedder,
    dropout: config.dropout,
  } + if config.spans then { type: 'elmo_crf_tagger', encoders: [encoder] }
  else { type: 'elmo_tagger', encoder: encoder },

  data_loader: {
    batch_sampler: { type: 'bucket', batch_size: config.batch_size, sorting_keys: ['tokens'] },
  },
  trainer+: {
    optimizer: { type: 'elmo_adam', lr: config.learning_rate },
    grad_norm: 5.0,
    num_epochs: config.num_epochs,
    patience: config.patience,
    validation_metric: if config.spans then '+f1-measure-overall' else '+accuracy',
  },
}
