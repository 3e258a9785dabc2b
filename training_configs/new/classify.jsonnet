// The lines that are commented out show the defaults.
(import 'elmo_tasks/classify.libsonnet') {
  // The text to train on; a path is relative to the folder of the command.
  train_data_path: 'data/classify/train.csv',

  // The text that chooses the best epoch.
  validation_data_path: 'data/classify/dev.csv',

  // Weight of the L2 penalty on the mix weights before their softmax. Gamma has no penalty.
  // Peters et al. for SST.
  // elmo_lambda: 0.001,

  // The names of the one or two columns with texts.
  // texts: ['text'],

  // The name of the column with the label.
  // label: 'label',

  // What separates labels if a text may have several, such as ';' (a list in JSON or
  // Parquet needs any value here); null if each text has one label.
  // separator: null,

  // The tokens of a text that are read, and the rest is left out; null for all.
  // max_tokens: null,

  // Inputs that the page of `elmo-tasks serve` shows; they are kept in the archive. [] shows none.
  // examples: [],

  // The language whose spaCy rules cut a text into sentences and words.
  // language: 'en',

  // Whether a word's vector is looked up in lower case. Characters and ELMo see the raw
  // word.
  // lowercase: true,

  // The width of a recurrent layer in one direction.
  // hidden_dim: 100,

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
