import '../lib/srl.libsonnet'
