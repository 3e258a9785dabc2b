// The lines that are commented out show the defaults.
(import 'elmo_tasks/language_model.libsonnet') {
  // Files with one tokenized sentence on each line: plain text, .gz or .xz. A glob pattern
  // names several files.
  train_text: 'data/corpus/train.txt.xz',

  // The text that chooses the best epoch.
  heldout_text: 'data/corpus/heldout.txt.gz',

  // The task whose sentences are the text, without labels: 'coref', 'ner', 'snli', 'squad',
  // 'srl' or 'sst'; null for a text of its own.
  // task: null,

  // Trains on the first sentences of `train_text` only; null for all. The held-out text is
  // read whole.
  // max_sentences: null,

  // The width of an LSTM's memory.
  // cell_dim: 4096,

  // The width of an LSTM's output in one direction.
  // projection_dim: 512,

  // LSTM layers in each direction.
  // num_layers: 2,

  // The width of each filter of the character CNN, and how many there are.
  // filters: [[1, 32], [2, 32], [3, 64], [4, 128], [5, 256], [6, 512], [7, 1024]],

  // Highway layers above the character CNN.
  // num_highway: 2,

  // The width of a character.
  // char_dim: 16,

  // The bound of the values of an LSTM's memory and output.
  // clip: 3,

  // Dropout on the inputs of the layers.
  // dropout: 0.1,

  // The model.tar.gz of another training to start from, with its softmax.
  // from_archive: null,

  // A biLM to start from: a name, or an object with options and pretrained_file.
  // from_bilm: null,

  // The name or folder of a packed biLM to start the softmax from; null for none.
  // from_softmax: null,

  // How many batches, from the first, train only the softmax.
  // num_softmax_batches: 0,

  // The word vectors from which a biLM of random weights starts: a name in
  // vectors.libsonnet, a file such as GloVe's, or null for none. The character CNN first
  // learns to give them, in `num_vector_batches` batches of 512 words, and the softmax's
  // rows begin as them. A biLM that is trained already has `num_vector_batches: 0`.
  // start_from_vectors: null,

  // The batches in which the character CNN learns to give word vectors.
  // num_vector_batches: 3000,

  // The weight of the error of word vectors beside the language model.
  // vector_weight: 1,

  // The words with vectors that are drawn for each batch.
  // num_vector_words: 256,

  // The classes of the softmax are the words seen at least `min_count` times. `num_samples`
  // of them are drawn for each batch; null computes the full softmax.
  // min_count: 3,

  // The words that are drawn for each batch; null computes the full softmax.
  // num_samples: 8192,

  // 'sentences': each sentence starts from a state of zeros. 'windows': the text is read in
  // windows, and each window starts from the state after the one before. Both have the same
  // words to predict.
  // read_as: 'sentences',

  // Tokens in a batch of sentences.
  // batch_tokens: 2560,

  // Rows of a batch of windows, and tokens in each.
  // window: { length: 20, rows: 128 },

  // The dtype of products while training: 'float32', 'bfloat16', or 'auto', which is
  // bfloat16 on a CPU or GPU that has units for it and float32 elsewhere.
  // dtype: 'auto',

  // The most epochs.
  // num_epochs: 10,

  // The optimizer, with its arguments.
  // optimizer: { initial_accumulator_value: 0.0025, lr: 0.2, type: 'adagrad' },

  // The largest norm of a gradient.
  // grad_norm: 0.5,

  // AllenNLP's learning rate scheduler, with its arguments; null for none.
  // scheduler: null,

  // Seconds between two checkpoints in an epoch.
  // save_every_num_seconds: 600,
}
