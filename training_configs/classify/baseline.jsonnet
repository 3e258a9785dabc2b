import '../lib/classify.libsonnet'
