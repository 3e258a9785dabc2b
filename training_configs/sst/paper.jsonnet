// With the released biLM as it is. The paper's test accuracy is 54.7, and continuing the biLM on
// SST's sentences made no difference on dev (supplement A.1).
(import 'both.jsonnet') { bilm: 'original', word_vectors: 'glove.840B', learning_rate: 0.0001 }
