// The biLMs that a config can name, from the table that Python reads, too. `base` is the default; `mini`
// is smaller and knows less (elmo_tasks/pretrained/NAME/MODEL_CARD.md). The others are those that the
// paper's authors released; the paper's results are with `original`. Each has the arguments of
// `make_bilm`: its options in full, so that an archive needs no other file, and the name of its weights.
local bilms = import 'bilms.json';

{ [name]: { options: bilms[name].options, pretrained_file: name } for name in std.objectFields(bilms) }
