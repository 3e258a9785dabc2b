// With the released biLM and GloVe's vectors, which are trained as well. The paper's dev F1 is 84.7
// and its test F1 84.6; continuing the biLM on the task's text did not help (supplement A.1).
(import 'input.jsonnet') {
  bilm: 'original',
  word_vectors: {
    embedding_dim: 100,
    pretrained_file: 'data/vectors/glove.6B.100d.120k.txt.gz',
    trainable: true,
  },
}
