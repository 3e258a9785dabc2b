(import 'both.jsonnet') { bilm: 'original', word_vectors: 'glove.840B', learning_rate: 0.0001 }
