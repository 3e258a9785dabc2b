// The biLM that configs take by default: elmo_tasks/pretrained/base/MODEL_CARD.md has the trials by
// which its numbers were chosen.
(import 'mini.jsonnet') {
  // Parts of books and of Wikipedia, so that both are read alternately.
  train_text: 'data/base/*.gz',
  max_sentences: null,
  start_from_vectors: 'data/vectors/glove.6B.100d.120k.txt.gz',
  cell_dim: 768,
  batch_tokens: 1024,
  // Each sentence is read once.
  dropout: 0,
  optimizer: { type: 'dense_sparse_adam', lr: 0.003 },
}
