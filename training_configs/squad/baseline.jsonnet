import '../lib/squad.libsonnet'
