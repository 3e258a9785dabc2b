(import '../lib/classify.libsonnet') { elmo_at: ['output'] }
