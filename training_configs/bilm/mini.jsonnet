// A small biLM, of the sizes of `mini`: 3.1 M parameters, trained by one core in an hour. It needs no
// word vectors; `mini` itself was trained like `base` (elmo_tasks/pretrained/mini/MODEL_CARD.md).
(import '../lib/language_model.libsonnet') {
  cell_dim: 512,
  projection_dim: 128,
  filters: [[1, 32], [2, 32], [3, 64], [4, 128], [5, 256]],
  num_highway: 1,
  char_dim: 64,
  // One core reads them in less than an hour.
  max_sentences: 550000,
  min_count: 5,
  num_samples: 2048,
  batch_tokens: 2048,
  num_epochs: 1,
  optimizer: { type: 'elmo_dense_sparse_adam', lr: 0.002 },
  scheduler: { type: 'linear_with_warmup', warmup_steps: 500 },
  grad_norm: 1,
}
