// CoNLL-2012: end-to-end coreference (Lee et al. 2017), as in Peters et al. 2018, supplement A.6,
// which took all its numbers. Where neither paper gives a value, it is that of e2e-coref, the code
// of Lee et al., unless a comment says otherwise.
local base = import 'base.libsonnet';

base {
  local config = self,

  elmo_lambda:: 0,  // Peters et al.: no regularization was best.

  // Names of all columns of the files. `roles` stands for any number of columns.
  columns:: (import 'srl.libsonnet').columns,
  // A regular expression for the beginning of a document's name, whose first group is the genre.
  genre_pattern:: '([a-z]{2})/',
  // The language whose spaCy rules cut raw text into sentences and tokens.
  language:: 'en',
  // Whether a word's vector is looked up in lower case. GloVe 6B needs it, GloVe 840B does not.
  lowercase:: false,

  characters:: { embedding_dim: 8, num_filters: 50, width: [3, 4, 5], dropout: 0 },  // Lee et al.
  // The width of the biLSTM in one direction.
  hidden_dim:: 200,  // Lee et al.
  // The width of the two layers of each feed-forward network.
  feedforward_dim:: 150,  // Lee et al.
  // The width of the embeddings of widths, speakers, genres and distances.
  feature_dim:: 20,  // Lee et al.
  // Words in the longest mention.
  max_span_width:: 10,  // Lee et al.
  // Spans that are kept as mentions, per word.
  spans_per_word:: 0.4,  // Lee et al.
  // Mentions before a mention that can be its antecedent.
  max_antecedents:: 250,  // Lee et al.
  // Training reads a random run of so many sentences of a longer document.
  max_training_sentences:: 50,  // Lee et al.
  // Dropout on the embeddings of words and characters.
  lexical_dropout:: 0.5,  // Lee et al.
  // Dropout on the output of the biLSTM, the layers of the networks and the embedded features.
  dropout:: 0.2,  // Lee et al.
  num_epochs:: 150,  // Lee et al.
  patience:: 20,  // Ours.

  local h_dim = 2 * config.hidden_dim + config.output_elmo_dim,
  local span_dim = 2 * h_dim + config.feature_dim + config.input_dim,
  local feedforward(input_dim) = {
    input_dim: input_dim,
    num_layers: 2,
    hidden_dims: config.feedforward_dim,
    activations: 'relu',
    dropout: config.dropout,
  },

  token_indexers+:: { tokens+: { lowercase_tokens: config.lowercase } },

  dataset_reader: {
    type: 'elmo_coref',
    columns: config.columns,
    genre_pattern: config.genre_pattern,
    language: config.language,
    token_indexers: config.token_indexers,
  },
  train_data_path: 'data/conll2012/train.english.v4_gold_conll',
  validation_data_path: 'data/conll2012/dev.english.v4_gold_conll',

  model: config.regularized {
    type: 'elmo_coref',
    text_embedder: config.text_embedder,
    encoder: {
      type: 'elmo_lstm',
      input_size: config.input_dim,
      hidden_size: config.hidden_dim,
    },
    mention_feedforward: feedforward(span_dim),
    antecedent_feedforward: feedforward(3 * (span_dim + config.feature_dim)),
    feature_dim: config.feature_dim,
    max_span_width: config.max_span_width,
    spans_per_word: config.spans_per_word,
    max_antecedents: config.max_antecedents,
    max_training_sentences: config.max_training_sentences,
    lexical_dropout: config.lexical_dropout,
    dropout: config.dropout,
    initializer: {
      regexes: [
        ['feedforward.*weight|(mention|pair|head)_scores\\.weight', { type: 'xavier_uniform' }],
        ['(width|speaker|distance|genre)_embedding\\.weight', { type: 'xavier_uniform' }],
        ['encoder\\._module\\.weight_ih', { type: 'xavier_uniform' }],
        ['encoder\\._module\\.weight_hh', { type: 'orthogonal' }],  // Lee et al.
      ],
    },
  },

  // A document at a time.
  data_loader: { batch_size: 1, shuffle: true },
  validation_data_loader: { batch_size: 1 },
  trainer+: {
    optimizer: { type: 'elmo_adam', lr: 0.001 },  // Lee et al.
    // Lee et al.: 0.1 % less every 100 documents, of which CoNLL-2012 has 2,802 for training.
    learning_rate_scheduler: { type: 'exponential', gamma: 0.972 },
    grad_norm: 5.0,
    num_epochs: config.num_epochs,
    patience: config.patience,
    validation_metric: '+f1-measure-mean',
  },
}
