// With the released biLM as it is. The paper's dev F1 of 85.6 is with a biLM that was continued on
// SQuAD's passages (supplement A.1; docs/continue_a_bilm.md has the commands). It has no figure without.
(import 'both.jsonnet') { bilm: 'original', word_vectors: 'glove.840B' }
