// CoNLL-2003: biLSTMs and a CRF, as in Peters et al. 2018, supplement A.7. Where the paper gives no
// value, it is that of allennlp-models, unless a comment says otherwise.
local base = import 'base.libsonnet';

base {
  local config = self,

  elmo_lambda:: 0.1,  // Peters et al.
  // ELMo needs no dropout of its own: it is part of the inputs of the encoders and of the tag
  // scores, which have dropout.
  elmo_dropout:: 0,

  // Names of all columns of the files, one of which is `word`, and the column to learn.
  columns:: ['word', 'pos', 'chunk', 'ner'],
  tag_column:: 'ner',
  // The language whose spaCy rules tokenize raw text.
  language:: 'en',

  // Whether a word's vector is looked up in lower case, and with each digit as 0. Senna's vectors
  // need both, GloVe 6B needs lower case, GloVe 840B neither. Characters and ELMo see the raw word.
  lowercase:: true,
  fold_digits:: false,
  characters:: { embedding_dim: 16, num_filters: 128, width: 3, dropout: 0 },  // Peters et al.
  // The width of each biLSTM in one direction.
  hidden_dims:: [200, 100],  // Peters et al.
  dropout:: 0.5,
  batch_size:: 64,
  num_epochs:: 75,
  patience:: 25,

  assert std.isArray(config.hidden_dims) && std.length(config.hidden_dims) > 0 :
         'hidden_dims must be a list of the width of each biLSTM, not %s'
         % std.toString(config.hidden_dims),

  local encoder_input_dims =
    [config.input_dim] + [2 * hidden_dim for hidden_dim in config.hidden_dims],

  token_indexers+:: {
    tokens+: {
      [if config.fold_digits then 'type']: 'elmo_folded_id',
      lowercase_tokens: config.lowercase,
    },
  },

  dataset_reader: {
    type: 'elmo_conll',
    columns: config.columns,
    tag_column: config.tag_column,
    token_indexers: config.token_indexers,
    tokenizer: { type: 'elmo_spacy', language: config.language },
  },
  train_data_path: 'data/conll2003/eng.train',
  validation_data_path: 'data/conll2003/eng.testa',

  model: config.regularized {
    type: 'elmo_crf_tagger',
    text_embedder: config.text_embedder,
    encoders: [
      {
        type: 'elmo_lstm',
        input_size: encoder_input_dims[layer],
        hidden_size: config.hidden_dims[layer],
      }
      for layer in std.range(0, std.length(config.hidden_dims) - 1)
    ],
    dropout: config.dropout,
  },

  data_loader: {
    batch_sampler: { type: 'bucket', batch_size: config.batch_size, sorting_keys: ['tokens'] },
  },
  trainer+: {
    optimizer: { type: 'elmo_adam', lr: 0.001 },  // Peters et al.
    grad_norm: 5.0,  // Peters et al.
    num_epochs: config.num_epochs,
    patience: config.patience,
    validation_metric: '+f1-measure-overall',
  },
}
