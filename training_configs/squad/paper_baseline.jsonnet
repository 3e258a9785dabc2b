// The model without ELMo, with the widths of document-qa, whose test F1 of 81.1 is the paper's (Table 1);
// its dev F1 is 80.8 (Table 2).
(import 'baseline.jsonnet') { word_vectors: 'glove.840B', hidden_dim: 100 }
