(import '../lib/sst.libsonnet') { elmo_at: ['input', 'output'] }
