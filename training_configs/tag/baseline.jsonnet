import '../lib/tag.libsonnet'
