(import '../lib/ner.libsonnet') { elmo_at: ['output'] }
