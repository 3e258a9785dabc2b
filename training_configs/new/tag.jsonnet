// The lines that are commented out show the defaults.
(import 'elmo_tasks/tag.libsonnet') {
  // The text to train on; a path is relative to the folder of the command.
  train_data_path: 'data/tag/train.conllu',

  // The text that chooses the best epoch.
  validation_data_path: 'data/tag/dev.conllu',

  // Weight of the L2 penalty on the mix weights before their softmax. Gamma has no penalty.
  // Peters et al. for named entities.
  // elmo_lambda: 0.1,

  // Dropout on ELMo.
  // elmo_dropout: 0,

  // A CNN over the characters of each word, whose output joins the word's vector: an object
  // with `embedding_dim`, `num_filters`, `width` and `dropout`, or null for no CNN. `width`
  // may be a list of widths, each with `num_filters` filters. Peters et al.
  // characters: { dropout: 0, embedding_dim: 16, num_filters: 128, width: 3 },

  // What is learnt: the name of a column of CoNLL-U or of `columns`, or of a field in JSON.
  // column: 'upos',

  // Whether spans of tokens have labels; tags are then in IOB1, BIO or BIOUL.
  // spans: false,

  // The names of all columns of files in columns; one must be 'word'.
  // columns: ['word', 'tag'],

  // Inputs that the page of `elmo-tasks serve` shows; they are kept in the archive. [] shows none.
  // examples: [],

  // The language whose spaCy rules tokenize raw text.
  // language: 'en',

  // Whether a word's vector is looked up in lower case. Characters and ELMo see the raw
  // word.
  // lowercase: true,

  // The width of a recurrent layer in one direction. Peters et al., the first of two.
  // hidden_dim: 200,

  // Dropout on the inputs of the layers.
  // dropout: 0.5,

  // Instances in a batch.
  // batch_size: 32,

  // The most epochs.
  // num_epochs: 40,

  // Epochs without an improvement after which the training ends.
  // patience: 8,

  // The step of the optimizer.
  // learning_rate: 0.001,
}
