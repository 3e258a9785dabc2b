// What `elmo-tasks new` writes: of these fields those that the task's library has, in this order, with
// the library's values. Each is a name, its comment, and whether it is left out unless something was
// found for it in data of the user's own.
[
  ['train_data_path', 'The data to train on; a path is relative to the folder of the command.', false],
  ['validation_data_path', 'The data that choose the best epoch.', false],
  [
    'train_text',
    'Files with one tokenized sentence on each line: plain text, .gz or .xz. A glob pattern names '
    + 'several files.',
    false,
  ],
  ['heldout_text', 'The text that chooses the best epoch.', false],
  ['max_sentences', 'Trains on the first sentences of `train_text` only; null for all.', false],
  ['texts', 'The names of the one or two columns with texts.', false],
  ['label', 'The name of the column with the label.', false],
  ['separator', "What separates labels of a text that has several, such as ';'.", true],
  [
    'column',
    'What is learnt: the name of a column of CoNLL-U or of `columns`, or of a field in JSON.',
    false,
  ],
  ['spans', 'Whether spans of tokens have labels; tags are then in IOB1, BIO or BIOUL.', false],
  ['columns', "The names of all columns of files in columns, one of which is 'word'.", false],
  ['tag_column', 'The column to learn.', false],
  ['granularity', "The classes: '5-class', '3-class' or '2-class'.", false],
  ['language', 'The language whose spaCy rules cut raw text into sentences and words.', true],
  [
    'examples',
    'Inputs that the page of `elmo-tasks serve` shows; they are kept in the archive. [] shows none.',
    true,
  ],

  ['elmo_at', "The places where ELMo joins the model: 'input', 'output', both or none.", false],
  ['bilm', 'A biLM: a name, a folder, or an object with options and pretrained_file.', false],
  ['from_bilm', 'A biLM to start from: a name, a folder, or null.', false],
  [
    'store',
    'Where the layers of the biLM are kept, so that it reads each sentence once: null for nowhere, a '
    + 'folder, or an object such as { memory: 2000 }, in megabytes.',
    true,
  ],
  [
    'word_vectors',
    "'learned', 'glove.6B.100d' or 'glove.840B', or an object with the arguments of AllenNLP's "
    + '`embedding`.',
    false,
  ],
  ['cell_dim', "The width of an LSTM's memory.", false],
  ['projection_dim', "The width of an LSTM's output in one direction.", false],
  ['hidden_dim', 'The width of a recurrent layer in one direction.', false],
  ['hidden_dims', 'The width of each biLSTM in one direction.', false],
  ['dropout', 'Dropout on the inputs of the layers.', false],
  ['batch_size', 'Instances in a batch.', true],
  ['batch_tokens', 'Tokens in a batch.', false],
  ['num_epochs', 'The most epochs.', false],
  ['patience', 'Epochs without an improvement after which the training ends.', true],
]
