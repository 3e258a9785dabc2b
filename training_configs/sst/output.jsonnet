(import '../lib/sst.libsonnet') { elmo_at: ['output'] }
