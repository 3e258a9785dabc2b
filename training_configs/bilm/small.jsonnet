// A biLM as large as the released `small`: 13.6 M parameters.
(import '../lib/language_model.libsonnet') {
  cell_dim: 1024,
  projection_dim: 128,
  num_highway: 1,
}
