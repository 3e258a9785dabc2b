// The paper's model without ELMo: its dev accuracy is 88.1 (Table 2), its test accuracy 88.0 (Table 1).
(import 'baseline.jsonnet') { word_vectors: 'glove.840B' }
