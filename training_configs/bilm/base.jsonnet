// `base`, the default biLM of the package: 4.2 M parameters, trained by one core in three hours. Its
// rate, batches and dropout were chosen by small trials (docs/own_bilm.md).
(import 'mini.jsonnet') {
  // Parts of books and of Wikipedia, so that both are read alternately.
  train_text: 'data/base/*.gz',
  max_sentences: null,
  start_from_vectors: 'glove.6B.100d',
  cell_dim: 768,
  batch_tokens: 1024,
  // Each sentence is read once.
  dropout: 0,
  optimizer: { type: 'elmo_dense_sparse_adam', lr: 0.003 },
}
