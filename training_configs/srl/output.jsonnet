(import '../lib/srl.libsonnet') { elmo_at: ['output'] }
