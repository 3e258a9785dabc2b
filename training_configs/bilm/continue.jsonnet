// Goes on with a biLM on other text, for one epoch, as Peters et al. 2018, supplement A.1.
//
// With the archive of its training at hand, its softmax goes on too:
// `from_bilm: null, from_archive: 'runs/mini/model.tar.gz', options: import 'options.json'`.
(import '../lib/language_model.libsonnet') {
  from_bilm: 'mini',
  // The least for a softmax to be worth following: 1.3 M tokens. A shorter text needs more epochs.
  num_softmax_batches: 500,
  train_text: 'data/text/train.txt',
  heldout_text: 'data/text/heldout.txt',
  min_count: 2,
  num_epochs: 1,
  optimizer: { type: 'dense_sparse_adam', lr: 0.001 },
  grad_norm: 1,
}
