// `base`, the default biLM of the package: 6.1 M parameters. Its filters, rate and batches were chosen
// by small trials (elmo_tasks/pretrained/base/MODEL_CARD.md).
local options = (import '../lib/bilms.json').base.options;

(import 'mini.jsonnet') {
  // Texts of several kinds, mixed sentence by sentence (docs/own_bilm.md).
  train_text: 'data/base/mixed.txt',
  heldout_text: 'data/base/heldout.txt',
  // One core reads them in an hour, after six minutes for the vectors.
  max_sentences: 800000,
  start_from_vectors: 'glove.6B.100d',
  num_vector_batches: 6000,
  vector_weight: 3,
  cell_dim: options.lstm.dim,
  // The character CNN holds a vocabulary: more filters of the middle widths.
  filters: options.char_cnn.filters,
  batch_tokens: 1024,
  // Each sentence is read once.
  dropout: 0,
  optimizer: { type: 'elmo_dense_sparse_adam', lr: 0.003 },
}
