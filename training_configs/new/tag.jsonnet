// The lines that are commented out show the defaults.
(import 'elmo_tasks/tag.libsonnet') {
  // The text to train on; a path is relative to the folder of the command.
  train_data_path: 'data/tag/train.conllu',

  // The text that chooses the best epoch.
  validation_data_path: 'data/tag/dev.conllu',

  // The places where ELMo joins the model: 'input', 'output', both or none.
  elmo_at: ['input', 'output'],

  // A biLM: a name, or an object with options and pretrained_file.
  bilm: 'base',

  // The layers of the biLM that ELMo mixes: 'all'; 'concat' for all side by side; 'last';
  // or the index of one layer.
  // elmo_layers: 'all',

  // Weight of the L2 penalty on the mix weights before their softmax. Gamma has no penalty.
  // Peters et al. for named entities.
  // elmo_lambda: 0.1,

  // Dropout on ELMo.
  // elmo_dropout: 0,

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
  // may be a list of widths, each with `num_filters` filters. Peters et al.
  // characters: { dropout: 0, embedding_dim: 16, num_filters: 128, width: 3 },

  // What is learnt: the name of a column of CoNLL-U or of `columns`, or of a field in JSON.
  // column: 'upos',

  // Whether spans of tokens have labels; tags are then in IOB1, BIO or BIOUL.
  // spans: false,

  // The names of all columns of files in columns; one must be 'word'.
  // columns: ['word', 'tag'],

  // The language whose spaCy rules tokenize raw text.
  // language: 'en',

  // Whether a word's vector is looked up in lower case. Characters and ELMo see the raw
  // word.
  // lowercase: true,

  // The width of a recurrent layer in one direction. Peters et al., the first of two.
  // hidden_dim: 200,

  // Dropout on the inputs of the layers.
  // dropout: 0.5,

  // Instances in a batch.
  // batch_size: 32,

  // The most epochs.
  // num_epochs: 40,

  // Epochs without an improvement after which the training ends.
  // patience: 8,

  // The step of the optimizer.
  // learning_rate: 0.001,
}
