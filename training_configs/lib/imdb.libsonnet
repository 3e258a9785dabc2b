// Whole movie reviews, positive or negative: texts of your own, with numbers that keep the training
// to some minutes of one core.
//
// docs/movie_reviews.md says how to get the data.
(import 'classify.libsonnet') {
  // Tokens of a review that are read. The rest is left out.
  max_tokens:: 300,
  hidden_dim:: 64,
  num_epochs:: 10,
  patience:: 4,

  train_data_path: 'data/movie-reviews/train.tsv',
  validation_data_path: 'data/movie-reviews/dev.tsv',
}
