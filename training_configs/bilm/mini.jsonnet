// A biLM of 3.0 M parameters that one core trains in an hour: the one that ships with the package.
(import '../lib/language_model.libsonnet') {
  cell_dim: 512,
  projection_dim: 128,
  filters: [[1, 32], [2, 32], [3, 64], [4, 128], [5, 256]],
  num_highway: 1,
  // What one core reads in less than an hour.
  max_sentences: 550000,
  min_count: 5,
  num_samples: 2048,
  batch_tokens: 2048,
  dtype: 'bfloat16',
  num_epochs: 1,
  optimizer: { type: 'dense_sparse_adam', lr: 0.002 },
  scheduler: { type: 'linear_with_warmup', warmup_steps: 500 },
  grad_norm: 1,
}
