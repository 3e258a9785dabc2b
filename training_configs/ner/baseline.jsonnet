import '../lib/ner.libsonnet'
