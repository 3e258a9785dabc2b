import '../lib/sst.libsonnet'
