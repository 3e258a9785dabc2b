(import '../lib/coref.libsonnet') { elmo_at: ['input'] }
