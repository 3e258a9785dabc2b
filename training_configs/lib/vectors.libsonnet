// The word vectors that a config can name, with the arguments of AllenNLP's `embedding`. The command
// `python scripts/fetch_data.py --glove 6B`, or `840B`, makes their files.
{
  // In lower case only, so that a word is looked up in lower case.
  'glove.6B.100d': {
    type: 'elmo_word_vectors',
    embedding_dim: 100,
    pretrained_file: 'data/vectors/glove.6B.100d.120k.txt.gz',
  },
  'glove.840B': {
    embedding_dim: 300,
    pretrained_file: 'data/glove.840B.300d.txt',
    trainable: false,
  },
}
