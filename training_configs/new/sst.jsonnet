// The lines that are commented out show the defaults.
(import 'elmo_tasks/sst.libsonnet') {
  // The text to train on; a path is relative to the folder of the command.
  train_data_path: 'data/sst/train.txt',

  // The text that chooses the best epoch.
  validation_data_path: 'data/sst/dev.txt',

  // Weight of the L2 penalty on the mix weights before their softmax. Gamma has no penalty.
  // Peters et al.
  // elmo_lambda: 0.001,

  // Words that the training text has less often share the vector of the unknown word, which
  // is thus trained. A word that a file has vectors for has its own, however rare it is. A
  // word of a sentence is in several of its phrases. With phrases of at least 4 tokens, 10
  // makes nearly as many words of SST unknown as 2 does with whole sentences.
  // min_count: 10,

  // The classes: '5-class', '3-class' or '2-class'.
  // granularity: '5-class',

  // The length of the shortest phrases to train on (McCann et al.); null trains on whole
  // sentences only, on which the model is always evaluated.
  // min_phrase_tokens: 4,

  // 'feedforward', as in Peters et al., or 'maxout', as in McCann et al. but without batch
  // norm.
  // classifier: 'feedforward',

  // The biLSTM whose output ELMo joins: 'encoder', the first, or 'integrator', the second.
  // output_place: 'encoder',

  // The width of a recurrent layer in one direction. McCann et al.
  // hidden_dim: 300,

  // The most epochs.
  // num_epochs: 40,

  // The step of the optimizer. McCann et al.; 0.0001 in Peters et al.
  // learning_rate: 0.001,
}
