// The lines that are commented out show the defaults.
(import 'elmo_tasks/ner.libsonnet') {
  // The text to train on; a path is relative to the folder of the command.
  train_data_path: 'data/conll2003/eng.train',

  // The text that chooses the best epoch.
  validation_data_path: 'data/conll2003/eng.testa',

  // Weight of the L2 penalty on the mix weights before their softmax. Gamma has no penalty.
  // Peters et al.
  // elmo_lambda: 0.1,

  // Dropout on ELMo.
  // elmo_dropout: 0,

  // A CNN over the characters of each word, whose output joins the word's vector: an object
  // with `embedding_dim`, `num_filters`, `width` and `dropout`, or null for no CNN. `width`
  // may be a list of widths, each with `num_filters` filters. Peters et al.
  // characters: { dropout: 0, embedding_dim: 16, num_filters: 128, width: 3 },

  // Names of all columns of the files, one of which is `word`, and the column to learn.
  // columns: ['word', 'pos', 'chunk', 'ner'],

  // The column to learn.
  // tag_column: 'ner',

  // The language whose spaCy rules tokenize raw text.
  // language: 'en',

  // Whether a word's vector is looked up in lower case, and with each digit as 0. Senna's
  // vectors need both, GloVe 6B needs lower case, GloVe 840B neither. Characters and ELMo
  // see the raw word.
  // lowercase: true,

  // Whether a word's vector is looked up with each digit as 0.
  // fold_digits: false,

  // The width of each biLSTM in one direction. Peters et al.
  // hidden_dims: [200, 100],

  // Dropout on the inputs of the layers.
  // dropout: 0.5,

  // Instances in a batch.
  // batch_size: 64,

  // The most epochs.
  // num_epochs: 75,

  // Epochs without an improvement after which the training ends.
  // patience: 25,
}
