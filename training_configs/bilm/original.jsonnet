// The paper's biLM by its own recipe (Peters et al. 2018, sections 3.2 and 3.4): 93.6 M parameters,
// windows of a running text with the state carried on, 10 epochs of a billion words, of which those
// seen three times have a class. All of the widths and numbers are the library's. The authors had
// three GPUs, each with such batches: `distributed: { cuda_devices: [0, 1, 2] }`.
(import '../lib/language_model.libsonnet') { read_as: 'windows' }
