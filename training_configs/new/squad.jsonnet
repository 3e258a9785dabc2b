// The lines that are commented out show the defaults.
(import 'elmo_tasks/squad.libsonnet') {
  // The text to train on; a path is relative to the folder of the command.
  train_data_path: 'data/squad/train-v1.1.json',

  // The text that chooses the best epoch.
  validation_data_path: 'data/squad/dev-v1.1.json',

  // The places where ELMo joins the model: 'input', 'output', both or none.
  elmo_at: ['input', 'output'],

  // A biLM: a name, or an object with options and pretrained_file.
  bilm: 'base',

  // The layers of the biLM that ELMo mixes: 'all'; 'concat' for all side by side; 'last';
  // or the index of one layer.
  // elmo_layers: 'all',

  // Weight of the L2 penalty on the mix weights before their softmax. Gamma has no penalty.
  // Peters et al.: no regularization was best.
  // elmo_lambda: 0,

  // Dropout on ELMo.
  // elmo_dropout: 0.5,

  // What each layer is normalized over to mean 0 and variance 1: 'batch', 'sentence', or
  // null for no normalization.
  // elmo_layer_norm: null,

  // The dtype of a frozen biLM's matrix products: 'float32', 'bfloat16', or 'auto', which
  // is bfloat16 on a CPU or GPU that has units for it and float32 elsewhere. A `dtype` in
  // `bilm` comes first.
  // bilm_dtype: 'auto',

  // Where the biLM's layers are stored, so that the biLM reads each sentence once: null for
  // nowhere, a folder, or an object with the arguments of `LayerStore`
  // (elmo_tasks/elmo/store/layer_store.py).
  // store: null,

  // 'learned', 'glove.6B.100d' or 'glove.840B', or an object with the arguments of
  // AllenNLP's `embedding`.
  // word_vectors: 'learned',

  // Words that the training text has less often share the vector of the unknown word, which
  // is thus trained. A word that a file has vectors for has its own, however rare it is. A
  // passage counts once for each of its questions, which are five on average, so 6 makes
  // nearly as many words unknown as 2 would if it counted once.
  // min_count: 6,

  // If vectors come from a text file: from how many of its first words, which are the most
  // frequent ones, the vocabulary has each, whether the training text has it or not; null
  // for all of them. The other words of the file are in the vocabulary if the training text
  // has them.
  // max_pretrained_words: 200000,

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

  // What the reader does with an answer that does not stand at its answer_start: 'skip' or
  // 'refuse'.
  // wrong_answers: 'skip',

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
