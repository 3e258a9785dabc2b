// Returns the biLM that a choice stands for: a name in bilms.libsonnet; a folder or a repository,
// whose options the commands of elmo-tasks read (`allennlp train` cannot: it needs
// `import 'FOLDER/bilm.libsonnet'`); or an object with `options` and `pretrained_file`.
local bilms = import 'bilms.libsonnet';

function(field, choice)
  local read = std.native('elmo_bilm');
  local chosen =
    if !std.isString(choice) then choice
    else if choice in bilms then bilms[choice]
    else if read != null then read(choice);
  if std.isObject(chosen) && 'options' in chosen && 'pretrained_file' in chosen then chosen
  else
    error '%s must be one of %s, a folder that elmo-tasks reads, or an object with options and '
          % [field, std.join(', ', std.objectFields(bilms))]
          + 'pretrained_file, not %s' % std.toString(choice)
