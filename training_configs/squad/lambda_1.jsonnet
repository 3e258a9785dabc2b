(import 'both.jsonnet') { elmo_lambda: 1 }
