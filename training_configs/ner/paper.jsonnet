// With the released biLM as it is. The paper's test F1 is 92.22. It does not say whether its biLM
// was continued on CoNLL-2003's sentences (supplement A.1; docs/continue_a_bilm.md has the commands).
(import 'input.jsonnet') { bilm: 'original', fold_digits: true, word_vectors: { embedding_dim: 50, pretrained_file: 'data/senna.txt' } }
