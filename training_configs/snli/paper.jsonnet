// The ELMo model of Peters et al. 2018, supplement A.3, with the released biLM as it is. The paper
// reports a dev accuracy of 88.9 for it, and 89.5 (Tables 2 and 3) after the biLM was continued on
// SNLI's sentences (supplement A.1): docs/continue_a_bilm.md says how.
(import 'both.jsonnet') {
  bilm: 'original',
  word_vectors: 'glove.840B',
  elmo_layer_norm: 'sentence',
  attention_dropout: 0.5,
  weight_penalty: 0.0001,
}
