import '../lib/coref.libsonnet'
