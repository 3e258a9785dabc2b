(import 'input.jsonnet') { elmo_layers: 'last' }
