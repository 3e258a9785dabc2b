// CoNLL-2012: interleaved highway LSTMs (He et al. 2017), as in Peters et al. 2018, supplement A.5.
// Where neither paper gives a value, it is that of allennlp-models.
local base = import 'base.libsonnet';

base {
  local config = self,

  elmo_lambda:: 0.001,  // Peters et al., Table 2: the better of two.
  elmo_dropout:: 0.1,

  // Names of all columns of the files. `roles` stands for one column for each predicate.
  columns:: [
    'document',
    'part',
    'index',
    'word',
    'pos',
    'parse',
    'lemma',
    'predicate',
    'sense',
    'speaker',
    'entity',
    'roles',
    'coreference',
  ],
  // The language whose spaCy rules tokenize raw text.
  language:: 'en',
  // Whether a word's vector is looked up in lower case. GloVe 6B needs it, GloVe 840B does not.
  lowercase:: true,

  // The width of the embedding that marks the predicate.
  predicate_dim:: 100,  // Peters et al.
  // The width of each LSTM, and their number.
  hidden_dim:: 300,  // Peters et al.
  num_layers:: 8,  // Peters et al.
  recurrent_dropout:: 0.1,  // Peters et al.
  batch_size:: 80,  // He et al.
  num_epochs:: 500,  // Peters et al.
  patience:: 200,  // Peters et al.

  assert std.isNumber(config.recurrent_dropout)
         && config.recurrent_dropout >= 0 && config.recurrent_dropout < 1 :
         'recurrent_dropout must be from 0 to below 1, not %s'
         % std.toString(config.recurrent_dropout),

  local sampler = {
    type: 'bucket',
    batch_size: config.batch_size,
    sorting_keys: ['tokens'],
  },

  token_indexers+:: { tokens+: { lowercase_tokens: config.lowercase } },

  dataset_reader: {
    type: 'elmo_srl',
    columns: config.columns,
    token_indexers: config.token_indexers,
    tokenizer: { type: 'elmo_spacy', language: config.language },
  },
  train_data_path: 'data/conll2012/train.gold_conll',
  validation_data_path: 'data/conll2012/dev.gold_conll',

  model: config.regularized {
    type: 'elmo_srl_tagger',
    text_embedder: config.text_embedder,
    encoder: {
      type: 'elmo_alternating_lstm',
      input_size: config.input_dim + config.predicate_dim,
      hidden_size: config.hidden_dim,
      num_layers: config.num_layers,
      recurrent_dropout_probability: config.recurrent_dropout,
    },
    predicate_dim: config.predicate_dim,
    initializer: { regexes: [['tag_scores\\.weight', { type: 'orthogonal' }]] },  // Peters et al.
  },

  data_loader: { batch_sampler: sampler },
  // Without noise, the predicates of a sentence are side by side, so that the biLM reads the sentence
  // once for most of them.
  validation_data_loader: { batch_sampler: sampler { padding_noise: 0 } },
  trainer+: {
    optimizer: { type: 'adadelta', lr: 1.0, rho: 0.95 },  // Peters et al.
    grad_clipping: 1.0,  // Peters et al.
    num_epochs: config.num_epochs,
    patience: config.patience,
    validation_metric: '+f1-measure-overall',
  },
}
