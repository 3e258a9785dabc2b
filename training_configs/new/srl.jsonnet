// The lines that are commented out show the defaults.
(import 'elmo_tasks/srl.libsonnet') {
  // The text to train on; a path is relative to the folder of the command.
  train_data_path: 'data/conll2012/train.gold_conll',

  // The text that chooses the best epoch.
  validation_data_path: 'data/conll2012/dev.gold_conll',

  // Weight of the L2 penalty on the mix weights before their softmax. Gamma has no penalty.
  // Peters et al., Table 2: the better of two.
  // elmo_lambda: 0.001,

  // Dropout on ELMo.
  // elmo_dropout: 0.1,

  // The language whose spaCy rules tokenize raw text.
  // language: 'en',

  // Whether a word's vector is looked up in lower case. GloVe 6B needs it, GloVe 840B does
  // not.
  // lowercase: true,

  // The width of the embedding that marks the predicate. Peters et al.
  // predicate_dim: 100,

  // The width of a recurrent layer in one direction. Peters et al.
  // hidden_dim: 300,

  // LSTM layers in each direction. Peters et al.
  // num_layers: 8,

  // Peters et al.
  // recurrent_dropout: 0.1,

  // Instances in a batch. He et al.
  // batch_size: 80,

  // The most epochs. Peters et al.
  // num_epochs: 500,

  // Epochs without an improvement after which the training ends. Peters et al.
  // patience: 200,
}
