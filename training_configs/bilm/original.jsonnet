// The paper's biLM: 93.6 M parameters and 10 epochs (Peters et al. 2018, sections 3.2 and 3.4). The
// paper says no more of its training; the rest is the recipe of bilm-tf, its authors' code: windows
// of a running text with the state carried from one window to the next, a sampled softmax over the
// words seen at least three times, Adagrad, and dropout. All widths and numbers are the library's
// defaults. Three things differ:
//
// - The text is yours: `train_text`. The authors had the 1 Billion Word Benchmark.
// - One process makes a step for each batch. The authors had three GPUs, each with batches of this
//   size, and made a step for three of them: `distributed: { cuda_devices: [0, 1, 2] }`.
// - The biLM is that of the epoch with the lowest perplexity on `heldout_text`, not the last one.
(import '../lib/language_model.libsonnet') { read_as: 'windows' }
