// With the released biLM and GloVe's vectors; Lee et al. add 50 dimensions of Turian's. The paper's
// test F1 is 70.4; continuing the biLM on the task's text did not help (supplement A.1).
(import 'input.jsonnet') { bilm: 'original', word_vectors: 'glove.840B' }
