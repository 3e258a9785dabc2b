// Whole movie reviews, positive or negative: texts of your own, with numbers that keep the training
// to some minutes of one core.
//
// scripts/imdb_json.py writes the data files.
(import 'classify.libsonnet') {
  // Tokens of a review that are read. The rest is left out.
  max_tokens:: 300,
  hidden_dim:: 64,
  num_epochs:: 10,
  patience:: 4,

  train_data_path: 'runs/imdb/train.jsonl',
  validation_data_path: 'runs/imdb/dev.jsonl',
}
