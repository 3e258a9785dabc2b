import argparse
import sys
from typing import TYPE_CHECKING

from allennlp.commands.subcommand import Subcommand
from allennlp.common import Params

from elmo_tasks.analysis.probe.column_reader import ColumnReader
from elmo_tasks.analysis.probe.linear_probe import LinearProbe  # noqa: F401  registers its name
from elmo_tasks.analysis.probe.nearest_probe import NearestProbe  # noqa: F401  the same
from elmo_tasks.analysis.probe.probe import Probe
from elmo_tasks.analysis.probe.report import Report, report
from elmo_tasks.analysis.probe.tagged_tokens import embed
from elmo_tasks.bilm import bilm_from_config
from elmo_tasks.commands.outputs import add_outputs, deliver
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.encoder.encoder import ElmoEncoder

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DESCRIPTION = """
Ask what each layer of a biLM knows of words, such as their parts of speech or their senses: a
simple classifier learns the tags of a file in columns from the vectors of one layer alone, of the
next, and of a trained mix of all (Peters et al. 2018, section 5.3). Two baselines stand beside
them, the most frequent tag of all and that of each word.
"""

_EXAMPLES = """
examples:
  allennlp elmo-probe training_configs/probe/pos.jsonnet --chart pos.png
  allennlp elmo-probe training_configs/probe/senses.jsonnet -o '{"train_data_path": "my.txt"}'
"""


@Subcommand.register("elmo-probe")
class ElmoProbe(Subcommand):
    """
    Asks what each layer of a biLM knows of the tags of words.

    Registered as a `Subcommand` with name "elmo-probe".
    """

    def add_subparser(self, parser: argparse._SubParsersAction) -> argparse.ArgumentParser:
        subparser = parser.add_parser(
            self.name,
            description=_DESCRIPTION,
            epilog=_EXAMPLES,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            help="Ask what each layer of a biLM knows of the tags of words.",
        )
        subparser.add_argument("config", metavar="CONFIG", help="path of a config")
        subparser.add_argument(
            "-o", "--overrides", default="", help="a JSON object with changes to the config"
        )
        add_outputs(subparser)
        subparser.set_defaults(func=_probe_from_args)
        return subparser


def _probe_from_args(args: argparse.Namespace) -> None:
    try:
        answer = probe(_read(args.config, args.overrides))
        deliver(args, answer.text(), answer.as_dict(), lambda: _draw(answer))
    except (ConfigurationError, OSError, ValueError) as error:
        sys.exit(f"elmo-probe: {error}")


def probe(config: Params) -> Report:
    """
    Runs the probe of a config.

    # Parameters

    config : `Params`
        `dataset_reader`, the parameters of a `ColumnReader`; `train_data_path` and
        `validation_data_path`; `model`, with a `bilm` and the parameters of a `Probe`.
    """
    reader = ColumnReader.from_params(config.pop("dataset_reader"))
    train_path, validation_path = (
        config.pop(f"{name}_data_path") for name in ("train", "validation")
    )
    model = config.pop("model")
    bilm = model.pop("bilm")
    title = f"{reader.tag_column} of {validation_path} in {bilm.get('pretrained_file')}"
    encoder = ElmoEncoder(bilm_from_config(bilm.as_dict()).eval())
    classifier = Probe.from_params(model)
    config.assert_empty("elmo-probe")
    # Both are read before the layers of one are computed, which takes its time.
    sentences = [list(reader.read(path)) for path in (train_path, validation_path)]
    train, validation = (embed(encoder, part) for part in sentences)
    return report(title, classifier, train, validation)


def _read(config_file: str, overrides: str) -> Params:
    try:
        return Params.from_file(config_file, overrides)
    except RuntimeError as error:
        # Jsonnet's own.
        raise ConfigurationError(f"{config_file} cannot be read: {error}") from error


def _draw(answer: Report) -> "Figure":
    # Imported here, since it takes its time.
    from elmo_tasks.analysis.probe.chart import draw

    return draw(answer)
