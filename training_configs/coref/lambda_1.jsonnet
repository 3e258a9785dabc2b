(import 'input.jsonnet') { elmo_lambda: 1 }
