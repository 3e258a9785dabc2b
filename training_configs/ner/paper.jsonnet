(import 'input.jsonnet') { bilm: 'original', word_vectors: { embedding_dim: 50, pretrained_file: 'data/senna.txt' } }
