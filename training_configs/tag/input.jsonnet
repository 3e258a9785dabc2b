(import '../lib/tag.libsonnet') { elmo_at: ['input'] }
