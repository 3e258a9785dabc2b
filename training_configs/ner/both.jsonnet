(import '../lib/ner.libsonnet') { elmo_at: ['input', 'output'] }
