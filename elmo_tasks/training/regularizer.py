import logging
import re

from allennlp.models import Model

logger = logging.getLogger(__name__)


def warn_of_unused_regexes(model: Model) -> None:
    """
    Warns about each regex of a model's regularizer that applies to no trained parameter: it matches
    none, or an earlier regex matches them first. AllenNLP does not warn about this.
    """
    applicator = getattr(model, "_regularizer", None)
    regexes = [regex for regex, _ in getattr(applicator, "_regularizers", [])]
    names = [name for name, parameter in model.named_parameters() if parameter.requires_grad]
    matches = {next((r for r in regexes if re.search(r, name)), None) for name in names}
    mixes = [name for name in names if name.endswith(".scalar_parameters")]
    hint = f"; the weights of ELMo's mixes are {', '.join(mixes)}" if mixes else ""
    for regex in dict.fromkeys(regexes):
        if regex not in matches:
            is_late = any(re.search(regex, name) for name in names)
            logger.warning(
                "the regularizer's regex %r has no effect: %s%s",
                regex,
                "an earlier regex takes the parameters that it matches"
                if is_late
                else "it matches no parameter that trains",
                hint,
            )
