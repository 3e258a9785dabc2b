// The lines that are commented out show the defaults.
(import 'elmo_tasks/coref.libsonnet') {
  // The text to train on; a path is relative to the folder of the command.
  train_data_path: 'data/conll2012/train.english.v4_gold_conll',

  // The text that chooses the best epoch.
  validation_data_path: 'data/conll2012/dev.english.v4_gold_conll',

  // Weight of the L2 penalty on the mix weights before their softmax. Gamma has no penalty.
  // Peters et al.: no regularization was best.
  // elmo_lambda: 0,

  // A CNN over the characters of each word, whose output joins the word's vector: an object
  // with `embedding_dim`, `num_filters`, `width` and `dropout`, or null for no CNN. `width`
  // may be a list of widths, each with `num_filters` filters. Lee et al.
  // characters: { dropout: 0, embedding_dim: 8, num_filters: 50, width: [3, 4, 5] },

  // Names of all columns of the files. `roles` stands for any number of columns.
  // columns: ['document', 'part', 'index', 'word', 'pos', 'parse', 'lemma', 'predicate', 'sense', 'speaker', 'entity', 'roles', 'coreference'],

  // A regular expression for the beginning of a document's name, whose first group is the
  // genre.
  // genre_pattern: '([a-z]{2})/',

  // The language whose spaCy rules cut raw text into sentences and tokens.
  // language: 'en',

  // Whether a word's vector is looked up in lower case. GloVe 6B needs it, GloVe 840B does
  // not.
  // lowercase: false,

  // The width of a recurrent layer in one direction. Lee et al.
  // hidden_dim: 200,

  // The width of the two layers of each feed-forward network. Lee et al.
  // feedforward_dim: 150,

  // The width of the embeddings of widths, speakers, genres and distances. Lee et al.
  // feature_dim: 20,

  // Words in the longest mention. Lee et al.
  // max_span_width: 10,

  // Spans that are kept as mentions, per word. Lee et al.
  // spans_per_word: 0.4,

  // Mentions before a mention that can be its antecedent. Lee et al.
  // max_antecedents: 250,

  // Training reads a random run of so many sentences of a longer document. Lee et al.
  // max_training_sentences: 50,

  // Dropout on the embeddings of words and characters. Lee et al.
  // lexical_dropout: 0.5,

  // Dropout on the inputs of the layers. Lee et al.
  // dropout: 0.2,

  // The most epochs. Lee et al.
  // num_epochs: 150,

  // Epochs without an improvement after which the training ends. Ours.
  // patience: 20,
}
