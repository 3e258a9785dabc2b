// The lines that are commented out show the defaults.
(import 'elmo_tasks/squad.libsonnet') {
  // The text to train on; a path is relative to the folder of the command.
  train_data_path: 'data/squad/train-v1.1.json',

  // The text that chooses the best epoch.
  validation_data_path: 'data/squad/dev-v1.1.json',

  // Weight of the L2 penalty on the mix weights before their softmax. Gamma has no penalty.
  // Peters et al.: no regularization was best.
  // elmo_lambda: 0,

  // Words that the training text has less often share the vector of the unknown word, which
  // is thus trained. A word that a file has vectors for has its own, however rare it is. A
  // passage counts once for each of its questions, which are five on average, so 6 makes
  // nearly as many words unknown as 2 would if it counted once.
  // min_count: 6,

  // A CNN over the characters of each word, whose output joins the word's vector: an object
  // with `embedding_dim`, `num_filters`, `width` and `dropout`, or null for no CNN. `width`
  // may be a list of widths, each with `num_filters` filters.
  // characters: { dropout: 0.2, embedding_dim: 20, num_filters: 100, width: 5 },

  // The width of a recurrent layer in one direction. Peters et al.; 100 in document-qa's
  // model without ELMo.
  // hidden_dim: 90,

  // Dropout on the inputs of the layers.
  // dropout: 0.2,

  // The most tokens of an answer.
  // max_answer_tokens: 17,

  // The number of tokens at which training passages are cut; null for whole passages.
  // max_passage_tokens: null,

  // Instances in a batch.
  // batch_size: 45,

  // The most epochs.
  // num_epochs: 24,

  // The weights that validation measures: 'raw', as published, or their moving 'average'.
  // validate_on: 'raw',

  // Decay of the average at every update. It suits long trainings: after 2,500 updates the
  // average is still to 8 % the weights that training began with.
  // average_decay: 0.999,

  // The optimizer, with its arguments.
  // optimizer: { eps: 1e-08, lr: 1, rho: 0.95, type: 'adadelta' },
}
