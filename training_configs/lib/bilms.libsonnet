// The biLMs that a config can name. Each has the arguments of `make_bilm`: its options in full, so
// that an archive needs no other file, and the name or path of its weights.
local bilm(name, cell_dim, projection_dim, num_highway) = {
  options: {
    lstm: {
      use_skip_connections: true,
      projection_dim: projection_dim,
      cell_clip: 3,
      proj_clip: 3,
      dim: cell_dim,
      n_layers: 2,
    },
    char_cnn: {
      activation: 'relu',
      filters: [[1, 32], [2, 32], [3, 64], [4, 128], [5, 256], [6, 512], [7, 1024]],
      n_highway: num_highway,
      embedding: { dim: 16 },
      n_characters: 262,
      max_characters_per_token: 50,
    },
  },
  pretrained_file: name,
};

local ours(name, cell_dim) = bilm(name, cell_dim, 128, 1) {
  options+: { state: 'reset', char_cnn+: { filters: super.filters[:5], embedding: { dim: 64 } } },
};

{
  // Our own: elmo_tasks/pretrained/NAME/MODEL_CARD.md. `base` is the default; `mini` is smaller and
  // knows less.
  base: ours('base', 768) {
    options+: {
      char_cnn+: {
        filters: [[1, 32], [2, 64], [3, 160], [4, 256], [5, 256], [6, 256]],
      },
    },
  },
  mini: ours('mini', 512),

  // The biLMs that the paper's authors released; the paper's results are with `original`.
  small: bilm('small', 1024, 128, 1),
  medium: bilm('medium', 2048, 256, 1),
  original: bilm('original', 4096, 512, 2),
  'original-5.5B': bilm('original-5.5B', 4096, 512, 2),
}
