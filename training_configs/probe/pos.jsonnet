// Parts of speech. CoNLL-2003 has them beside its entities, as a tagger assigned them.
(import '../lib/probe.libsonnet') {
  dataset_reader: { columns: ['word', 'pos', 'chunk', 'ner'], tag_column: 'pos' },
  train_data_path: 'data/conll2003/eng.train',
  validation_data_path: 'data/conll2003/eng.testa',
}
