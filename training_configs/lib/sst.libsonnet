// SST: the biattentive classification network of McCann et al. 2017 (CoVe), section 5, as in
// Peters et al. 2018, supplement A.8. Where neither paper gives a value, it is that of
// allennlp-models.
local base = import 'base.libsonnet';

// The reader's values of `granularity`, with their classes.
local granularities = {
  '5-class': ['very negative', 'negative', 'neutral', 'positive', 'very positive'],
  '3-class': ['negative', 'neutral', 'positive'],
  '2-class': ['negative', 'positive'],
};

base {
  local config = self,

  elmo_lambda:: 0.001,  // Peters et al.

  granularity:: '5-class',
  // The length of the shortest phrases to train on (McCann et al.); null trains on whole sentences
  // only, on which the model is always evaluated.
  min_phrase_tokens:: 4,
  // A word of a sentence is in several of its phrases. With phrases of at least 4 tokens, 10 makes
  // nearly as many words of SST unknown as 2 does with whole sentences.
  min_count:: if config.min_phrase_tokens == null then 2 else 10,
  // 'feedforward', as in Peters et al., or 'maxout', as in McCann et al. but without batch norm.
  classifier:: 'feedforward',
  // The biLSTM whose output ELMo joins: 'encoder', the first, or 'integrator', the second.
  output_place:: 'encoder',
  hidden_dim:: 300,  // McCann et al.
  num_epochs:: 40,
  learning_rate:: 0.001,  // McCann et al.; 0.0001 in Peters et al.

  assert std.objectHas(granularities, config.granularity) :
         'granularity must be one of %s, not %s'
         % [std.join(', ', std.objectFields(granularities)), config.granularity],
  assert std.objectHas(classifiers, config.classifier) :
         'classifier must be one of %s, not %s'
         % [std.join(', ', std.objectFields(classifiers)), config.classifier],
  assert std.member(['encoder', 'integrator'], config.output_place) :
         "output_place must be 'encoder' or 'integrator', not %s"
         % std.toString(config.output_place),

  local encoder_dim = 2 * config.hidden_dim,
  local at(place) = if config.output_place == place then config.output_elmo_dim else 0,
  local x_dim = encoder_dim + at('encoder'),
  local pooled_dim = 4 * (encoder_dim + at('integrator')),
  local classes = granularities[config.granularity],
  local num_classes = std.length(classes),
  // Both classifiers have the widths and dropout of allennlp-models' maxout.
  local classifier = {
    input_dim: pooled_dim,
    num_layers: 3,
    dropout: [0.2, 0.3, 0.0],
  },
  local classifier_dims = [4 * config.hidden_dim, 2 * config.hidden_dim, num_classes],
  local classifiers = {
    feedforward: classifier {
      hidden_dims: classifier_dims,
      activations: ['relu', 'relu', 'linear'],
    },
    maxout: classifier {
      output_dims: classifier_dims,
      pool_sizes: 4,
    },
  },
  local bilstm(input_dim) = {
    type: 'elmo_lstm',
    input_size: input_dim,
    hidden_size: config.hidden_dim,
  },

  // A small part of the training data may lack a class.
  vocabulary+: { tokens_to_add: { labels: classes } },
  dataset_reader: config.validation_dataset_reader { min_phrase_tokens: config.min_phrase_tokens },
  validation_dataset_reader: {
    type: 'elmo_sst',
    granularity: config.granularity,
    token_indexers: config.token_indexers,
    tokenizer: { type: 'elmo_spacy', language: 'en' },
  },
  train_data_path: 'data/sst/train.txt',
  validation_data_path: 'data/sst/dev.txt',

  model: config.regularized {
    type: 'elmo_bcn',
    text_embedder: config.text_embedder,
    feedforward: {
      input_dim: config.input_dim,
      num_layers: 1,
      hidden_dims: config.hidden_dim,
      activations: 'relu',
      dropout: 0.25,
    },
    encoder: bilstm(config.hidden_dim),
    integrator: bilstm(3 * x_dim),
    classifier: classifiers[config.classifier],
    output_place: config.output_place,
    dropout: 0.2,  // One of three values that McCann et al. tried.
  },

  data_loader: {
    batch_sampler: { type: 'bucket', batch_size: 100, sorting_keys: ['tokens'] },
  },
  trainer+: {
    optimizer: { type: 'elmo_adam', lr: config.learning_rate },
    grad_norm: 5.0,
    num_epochs: config.num_epochs,
    patience: 5,
    validation_metric: '+accuracy',
  },
}
