(import '../lib/squad.libsonnet') { elmo_at: ['input', 'output'] }
