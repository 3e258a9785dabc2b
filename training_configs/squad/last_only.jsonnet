(import 'both.jsonnet') { elmo_layers: 'last' }
