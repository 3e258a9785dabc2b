(import '../lib/srl.libsonnet') { elmo_at: ['input', 'output'] }
