(import '../lib/imdb.libsonnet') { elmo_at: ['input'] }
