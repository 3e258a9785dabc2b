import '../lib/snli.libsonnet'
