(import '../lib/snli.libsonnet') { elmo_at: ['output'] }
