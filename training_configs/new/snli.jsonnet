// The lines that are commented out show the defaults.
(import 'elmo_tasks/snli.libsonnet') {
  // The text to train on; a path is relative to the folder of the command.
  train_data_path: 'data/snli/snli_1.0_train.jsonl',

  // The text that chooses the best epoch.
  validation_data_path: 'data/snli/snli_1.0_dev.jsonl',

  // Weight of the L2 penalty on the mix weights before their softmax. Gamma has no penalty.
  // Peters et al.
  // elmo_lambda: 0.001,

  // Dropout on the words, enhanced by what the attention found.
  // attention_dropout: 0,

  // Weight of the L2 penalty on the weight matrices of all layers above ELMo. Biases have
  // none.
  // weight_penalty: 0,

  // The width of a recurrent layer in one direction. Chen et al.
  // hidden_dim: 300,

  // Dropout on the inputs of the layers. Chen et al.
  // dropout: 0.5,

  // The most epochs.
  // num_epochs: 75,

  // The step of the optimizer. Chen et al.
  // learning_rate: 0.0004,

  // Whether the learning rate is halved after every epoch that does not improve on the
  // best. Peters et al., with ELMo and without.
  // halve_learning_rate: true,
}
