// The paper's model without ELMo: its test accuracy is 51.4 (Table 1).
(import 'baseline.jsonnet') { word_vectors: 'glove.840B', learning_rate: 0.0001 }
