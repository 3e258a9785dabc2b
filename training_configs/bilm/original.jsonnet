// The paper's biLM by its own recipe (Peters et al. 2018, sections 3.2 and 3.4): 93.6 M parameters
// and 10 epochs of a billion words, read in windows of a running text with the state carried from
// one window to the next. Words seen at least three times have a class in the softmax. All widths
// and numbers are the library's defaults. The authors had three GPUs, each with batches of this
// size: `distributed: { cuda_devices: [0, 1, 2] }`.
(import '../lib/language_model.libsonnet') { read_as: 'windows' }
