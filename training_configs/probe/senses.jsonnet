// Senses: the nearest of those of the same lemma, by the mean of each in the training data. A token
// a line with its lemma and its sense, or - where it has none.
(import '../lib/probe.libsonnet') {
  probe: { type: 'nearest' },
  dataset_reader: {
    columns: ['word', 'lemma', 'sense'],
    tag_column: 'sense',
    lemma_column: 'lemma',
    untagged: '-',
  },
  train_data_path: 'data/senses/train.txt',
  validation_data_path: 'data/senses/dev.txt',
}
