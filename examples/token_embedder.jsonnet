// examples/token_embedder.jsonnet
{
  dataset_reader: {
    type: 'text_classification_json',
    tokenizer: 'whitespace',
    token_indexers: { tokens: 'single_id', elmo: 'elmo_characters' },
  },
  train_data_path: 'fixtures/imdb.jsonl',
  validation_data_path: 'fixtures/imdb.jsonl',
  model: {
    type: 'own_classifier',  // examples/own_model.py
    text_field_embedder: {
      token_embedders: {
        tokens: { type: 'embedding', embedding_dim: 100 },
        elmo: { type: 'elmo_bilm', bilm: 'mini', mix: { dropout: 0.5 } },  // also layers, layer_norm and trainable
      },
    },
    encoder: { type: 'boe', embedding_dim: 100 + 256 },  // 2 * projection_dim of the biLM
    // L2 on the weights of the layers, before their softmax.
    regularizer: { regexes: [['.*scalar_parameters', { type: 'l2', alpha: 0.001 }]] },
  },
  data_loader: { batch_size: 4 },
  trainer: { type: 'elmo', checkpointer: 'elmo', optimizer: 'adam', num_epochs: 1 },
}
