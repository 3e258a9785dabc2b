(import '../lib/tag.libsonnet') { elmo_at: ['output'] }
