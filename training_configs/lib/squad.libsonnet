// SQuAD: bidirectional attention flow with self-attention, Clark and Gardner 2017, section 3, as in
// Peters et al. 2018, supplement A.4. Where neither paper gives a value, it is that of document-qa,
// the code that the paper's numbers came from.
local base = import 'base.libsonnet';

base {
  local config = self,

  elmo_lambda:: 0,  // Peters et al.: no regularization was best.

  hidden_dim:: 90,  // Peters et al.; 100 in document-qa's model without ELMo.
  dropout:: 0.2,
  max_answer_tokens:: 17,
  // The number of tokens at which training passages are cut; null for whole passages.
  max_passage_tokens:: null,
  // The most paragraphs of a training question, of which one is right and the others are of the same
  // article; a loss normalizes over all of them together.
  paragraphs:: 1,
  // A passage counts once for each of its questions, which are five on average, so 6 makes nearly as
  // many words unknown as 2 would if it counted once.
  min_count:: 6,
  batch_size:: 45,
  num_epochs:: 24,
  // The weights that validation measures: 'raw', as published, or their moving 'average'.
  validate_on:: 'raw',
  // Decay of the average at every update. It suits long trainings: after 2,500 updates the average
  // is still to 8 % the weights that training began with.
  average_decay:: 0.999,
  optimizer:: { type: 'adadelta', lr: 1.0, rho: 0.95, eps: 1e-8 },

  characters:: { embedding_dim: 20, num_filters: 100, width: 5, dropout: 0.2 },

  assert std.member(['raw', 'average'], config.validate_on) :
         "validate_on must be 'raw' or 'average', not %s" % std.toString(config.validate_on),

  // A word that GloVe lacks gets the vector of its lower case, or zeros if GloVe lacks that too.
  local known_vectors = super.chosen_vectors,
  chosen_vectors::
    if config.word_vectors == 'glove.840B' then {
      type: 'elmo_word_vectors',
      embedding_dim: known_vectors.embedding_dim,
      pretrained_file: known_vectors.pretrained_file,
    } else known_vectors,

  local h_dim = 2 * config.hidden_dim,
  local bigru(input_dim) = {
    type: 'elmo_gru',
    input_size: input_dim,
    hidden_size: config.hidden_dim,
  },
  local character_cnn = { type: 'elmo_character_cnn', max_characters: 14 } + config.characters,

  // Characters seen less often count as unknown.
  vocabulary+: {
    min_count+: { [if config.characters != null then 'token_characters']: 49 },
  },
  dataset_reader: config.validation_dataset_reader {
    [if config.max_passage_tokens != null then 'max_passage_tokens']: config.max_passage_tokens,
    [if config.paragraphs != 1 then 'paragraphs']: config.paragraphs,
  },
  validation_dataset_reader: {
    type: 'elmo_squad',
    token_indexers: config.token_indexers,
    tokenizer: { type: 'elmo_splitting', language: 'en' },
  },
  train_data_path: 'data/squad/train-v1.1.json',
  validation_data_path: 'data/squad/dev-v1.1.json',

  model: config.regularized {
    type: 'elmo_bidaf',
    text_embedder: config.text_embedder {
      words+: {
        token_embedders+: {
          [if config.characters != null then 'token_characters']: character_cnn,
        },
      },
    },
    encoder: bigru(config.input_dim),
    residual_encoder: bigru(h_dim),
    start_encoder: bigru(h_dim),
    end_encoder: bigru(2 * h_dim),
    dropout: config.dropout,
    max_answer_tokens: config.max_answer_tokens,
    initializer: {
      // Learned vectors start as large as GloVe's. AllenNLP would draw them with a standard
      // deviation of 0.008 for 30,000 words, which is too small to affect the attention.
      regexes: (
        if config.learns_vectors then
          [['words\\.token_embedder_tokens\\.weight', { type: 'normal', std: 0.4 }]]
        else []
      ) + [
        ['encoder\\._module\\.weight_', { type: 'elmo_truncated_normal', std: 0.05 }],
        ['encoder\\._module\\.bias_', { type: 'zero' }],
        ['^((self_)?attended|start|end)\\.weight$', { type: 'xavier_uniform' }],
        ['^(self_)?attended\\.bias$', { type: 'zero' }],
      ],
    },
  },

  data_loader: {
    batch_sampler: {
      type: 'bucket',
      batch_size: config.batch_size,
      sorting_keys: ['passage'],
      drop_last: true,
    },
  },
  validation_data_loader: {
    batch_sampler: {
      type: 'bucket',
      batch_size: config.batch_size,
      sorting_keys: ['passage'],
    },
  },
  trainer+: {
    optimizer: config.optimizer,
    moving_average: {
      type: 'elmo_exponential',
      decay: config.average_decay,
      validate_on: config.validate_on,
    },
    num_epochs: config.num_epochs,
    validation_metric: '+f1',
  },
}
