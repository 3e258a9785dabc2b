(import 'both.jsonnet') {
  bilm: 'original',
  word_vectors: 'glove.840B',
  elmo_layer_norm: 'sentence',
  attention_dropout: 0.5,
  weight_penalty: 0.0001,
  halve_learning_rate: true,
}
