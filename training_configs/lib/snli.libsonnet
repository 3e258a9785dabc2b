// SNLI: the sequence model of ESIM (Chen et al. 2017), as in Peters et al. 2018, supplement A.3.
// Where neither paper gives a value, it is that of allennlp-models.
local base = import 'base.libsonnet';

local is_dropout(value) = std.isNumber(value) && value >= 0 && value < 1;

base {
  local config = self,

  elmo_lambda:: 0.001,  // Peters et al.

  // Peters et al. use the next two choices, and `elmo_layer_norm`, in their ELMo models but not in
  // their baseline. Here they are off, so that variants differ only in the place of ELMo.
  //
  // Dropout on the words, enhanced by what the attention found.
  attention_dropout:: 0,
  // Weight of the L2 penalty on the weight matrices of all layers above ELMo. Biases have none.
  weight_penalty:: 0,

  hidden_dim:: 300,  // Chen et al.
  dropout:: 0.5,  // Chen et al.
  num_epochs:: 75,
  learning_rate:: 0.0004,  // Chen et al.
  // Whether the learning rate is halved after every epoch that does not improve on the best.
  halve_learning_rate:: true,  // Peters et al., with ELMo and without.

  assert is_dropout(config.dropout) :
         'dropout must be from 0 to below 1, not %s' % std.toString(config.dropout),
  assert is_dropout(config.attention_dropout) :
         'attention_dropout must be from 0 to below 1, not %s'
         % std.toString(config.attention_dropout),
  assert std.isNumber(config.weight_penalty) && config.weight_penalty >= 0 :
         'weight_penalty must be 0 or more, not %s' % std.toString(config.weight_penalty),
  assert std.isBoolean(config.halve_learning_rate) :
         'halve_learning_rate must be true or false, not %s'
         % std.toString(config.halve_learning_rate),

  // A penalty in addition to the one on the mix weights.
  local penalty = if config.weight_penalty == 0 then {} else {
    regularizer+: {
      regexes+: [
        ['^(encoder|projection|composer|classifier)\\..*weight', {
          type: 'l2',
          alpha: config.weight_penalty,
        }],
      ],
    },
  },

  local encoder_dim = 2 * config.hidden_dim,
  local bilstm(input_dim) = {
    type: 'elmo_lstm',
    input_size: input_dim,
    hidden_size: config.hidden_dim,
  },

  // A small part of the training data may lack a class.
  vocabulary+: { tokens_to_add: { labels: ['entailment', 'neutral', 'contradiction'] } },
  dataset_reader: {
    type: 'elmo_snli',
    token_indexers: config.token_indexers,
    tokenizer: { type: 'elmo_spacy', language: 'en' },
  },
  train_data_path: 'data/snli/snli_1.0_train.jsonl',
  validation_data_path: 'data/snli/snli_1.0_dev.jsonl',

  model: config.regularized + penalty + {
    type: 'elmo_esim',
    text_embedder: config.text_embedder,
    encoder: bilstm(config.input_dim),
    projection: {
      input_dim: 4 * (encoder_dim + config.output_elmo_dim),
      num_layers: 1,
      hidden_dims: config.hidden_dim,
      activations: 'relu',
    },
    composer: bilstm(config.hidden_dim),
    classifier: {
      input_dim: 4 * encoder_dim,
      num_layers: 2,
      hidden_dims: [config.hidden_dim, 3],
      activations: ['relu', 'linear'],  // Peters et al.; tanh in Chen et al.
      dropout: [config.dropout, 0.0],
    },
    dropout: config.dropout,
    attention_dropout: config.attention_dropout,
    // As in allennlp-models. The names are those of the layers above ELMo, so that the weights of
    // the biLM and the word vectors stay as they are.
    initializer: {
      regexes: [
        ['^(projection|classifier)\\..*weight', { type: 'xavier_uniform' }],
        ['^(projection|classifier)\\..*bias', { type: 'zero' }],
        ['^(encoder|composer)\\..*weight_ih', { type: 'xavier_uniform' }],
        ['^(encoder|composer)\\..*weight_hh', { type: 'orthogonal' }],
        ['^(encoder|composer)\\..*bias_ih', { type: 'zero' }],
        // Forget gates start with a bias of 1.
        ['^(encoder|composer)\\..*bias_hh', { type: 'lstm_hidden_bias' }],
      ],
    },
  },

  data_loader: {
    batch_sampler: {
      type: 'bucket',
      batch_size: 32,  // Chen et al.
      sorting_keys: ['premise', 'hypothesis'],
    },
  },
  trainer+: {
    optimizer: { type: 'elmo_adam', lr: config.learning_rate },
    [if config.halve_learning_rate then 'learning_rate_scheduler']: {
      type: 'reduce_on_plateau',
      mode: 'max',
      factor: 0.5,
      patience: 0,
      threshold: 0,
    },
    grad_norm: 5.0,  // Peters et al.; 10 in Chen et al.
    num_epochs: config.num_epochs,
    patience: 5,
    validation_metric: '+accuracy',
  },
}
