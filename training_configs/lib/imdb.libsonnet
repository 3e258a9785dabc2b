// Whole movie reviews, positive or negative, classified by a model of AllenNLP's own: an example of
// how ELMo joins any of those models, as a token embedder at the input. The numbers are our choice
// and keep the training to some minutes of one core.
//
// scripts/imdb_json.py writes the data files.
local base = import 'base.libsonnet';

base {
  local config = self,

  elmo_lambda:: 0.001,  // Peters et al. for SST.
  hidden_dim:: 64,
  // Tokens of a review that are read. The rest is left out.
  max_tokens:: 300,
  num_epochs:: 10,
  learning_rate:: 0.001,

  assert !std.member(config.elmo_at, 'output') :
         "elmo_at can be ['input'] or [] here: AllenNLP's basic_classifier has no other place",

  local embedder = config.text_embedder,
  local encoder_dim = 2 * config.hidden_dim,

  dataset_reader: {
    type: 'text_classification_json',
    token_indexers: config.token_indexers,
    // AllenNLP's default tokenizer would download a spaCy pipeline.
    tokenizer: { type: 'elmo_spacy', language: 'en' },
    max_sequence_length: config.max_tokens,
  },
  train_data_path: 'runs/imdb/train.jsonl',
  validation_data_path: 'runs/imdb/dev.jsonl',

  model: config.regularized {
    type: 'basic_classifier',
    text_field_embedder: {
      token_embedders: embedder.words.token_embedders {
        [if std.objectHas(embedder, 'bilm') then 'elmo']: {
          type: 'elmo_bilm',
          bilm: embedder.bilm,
          mix: embedder.input_mix,
        },
      },
    },
    seq2seq_encoder: {
      type: 'lstm',
      bidirectional: true,
      input_size: config.input_dim,
      hidden_size: config.hidden_dim,
    },
    // Takes the mean over the tokens.
    seq2vec_encoder: { type: 'boe', embedding_dim: encoder_dim, averaged: true },
    dropout: 0.5,
  },

  data_loader: {
    batch_sampler: { type: 'bucket', batch_size: 32, sorting_keys: ['tokens'] },
  },
  trainer+: {
    optimizer: { type: 'adam', lr: config.learning_rate },
    grad_norm: 5.0,
    num_epochs: config.num_epochs,
    patience: 4,
    validation_metric: '+accuracy',
  },
}
