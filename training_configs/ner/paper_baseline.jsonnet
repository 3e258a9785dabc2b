// The paper's model without ELMo: its test F1 is 90.15 (Table 1).
(import 'baseline.jsonnet') { fold_digits: true, word_vectors: { embedding_dim: 50, pretrained_file: 'data/senna.txt' } }
