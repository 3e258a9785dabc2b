// Continues to train a biLM on the text of a task for one epoch, as Peters et al. 2018, supplement
// A.1, do: give `task: 'snli'`, or `train_text` and `heldout_text` for a text of your own. The paper
// gives no optimizer; the numbers are ours.
//
// If you have the archive of the biLM's training, you can continue with its softmax as well:
// `from_bilm: null, from_archive: 'runs/base/model.tar.gz', options: import 'options.json'`.
(import '../lib/language_model.libsonnet') {
  from_bilm: 'base',
  // A new softmax needs 1.3 M tokens before its gradient is of use to the biLM, so that a shorter
  // text needs more epochs. The softmax of `base` is known.
  num_softmax_batches: if self.from_softmax == null then 1250 else 0,
  min_count: 2,
  batch_tokens: 1024,
  dropout: 0,
  num_epochs: 1,
  optimizer: { type: 'elmo_dense_sparse_adam', lr: 0.002 },
  scheduler: { type: 'linear_with_warmup', warmup_steps: 20 },
  grad_norm: 1,
}
