// Word senses: the sense of the same lemma whose mean vector in the training data is the nearest. A
// line of the files has a token, its lemma and its sense, or - if it has no sense. Several senses
// joined by | are all right.
(import '../lib/probe.libsonnet') {
  probe: { type: 'nearest' },
  dataset_reader: {
    columns: ['word', 'lemma', 'sense'],
    tag_column: 'sense',
    lemma_column: 'lemma',
    untagged: '-',
    tag_separator: '|',
  },
  train_data_path: 'data/senses/train.txt',
  validation_data_path: 'data/senses/dev.txt',
}
