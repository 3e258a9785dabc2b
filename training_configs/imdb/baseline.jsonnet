import '../lib/imdb.libsonnet'
