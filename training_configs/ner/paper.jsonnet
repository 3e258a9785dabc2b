(import 'input.jsonnet') { bilm: 'original', fold_digits: true, word_vectors: { embedding_dim: 50, pretrained_file: 'data/senna.txt' } }
