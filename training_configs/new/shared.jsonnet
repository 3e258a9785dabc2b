// The choices that all tasks share. A template's own choice of the same name takes its place.
{
  // The text to train on; a path is relative to the folder of the command.
  train_data_path: 'train.txt',

  // The text that chooses the best epoch.
  validation_data_path: 'dev.txt',

  // The places where ELMo joins the model: 'input', 'output', both or none.
  elmo_at: ['input', 'output'],

  // A biLM: a name, or an object with options and pretrained_file.
  bilm: 'base',

  // The layers of the biLM that ELMo mixes: 'all'; 'concat' for all side by side; 'last';
  // or the index of one layer.
  // elmo_layers: 'all',

  // Weight of the L2 penalty on the mix weights before their softmax. Gamma has no penalty.
  // elmo_lambda: 0.001,

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
  // is thus trained. A word that a file has vectors for has its own, however rare it is.
  // min_count: 2,

  // If vectors come from a text file: from how many of its first words, which are the most
  // frequent ones, the vocabulary has each, whether the training text has it or not; null
  // for all of them. The other words of the file are in the vocabulary if the training text
  // has them.
  // max_pretrained_words: 200000,

  // A CNN over the characters of each word, whose output joins the word's vector: an object
  // with `embedding_dim`, `num_filters`, `width` and `dropout`, or null for no CNN. `width`
  // may be a list of widths, each with `num_filters` filters.
  // characters: null,
}
