(import 'both.jsonnet') { bilm: 'original', word_vectors: 'glove.840B' }
