"""
Compares the speed of pre-training a biLM on one process and on several of this machine. Prints a
table in Markdown.

    python benchmarks/processes.py [TEXT] [--processes 1 2] [--sizes mini] [--dtypes float32]

A step is what `elmo-tasks train` does with a batch: its share is read, the gradients of the loss
are computed and averaged over the processes, and the optimizer updates the weights. Each process
has the batch of the config, so that n processes make steps of n batches. Tokens per second are all
tokens by the time of day; the CPU time is the largest of a process, for a token of its own, and
does not depend on what else the machine does. The bytes are those of the tensors that a process
gives to `torch.distributed` in a step.
"""

import argparse
import datetime
import json
import tempfile
import time
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import _jsonnet
import torch
from allennlp.common import Params
from allennlp.training.optimizers import Optimizer
from torch import distributed, multiprocessing

import elmo_tasks.plugin  # noqa: F401
from benchmarks.machine import machine
from benchmarks.pretraining import ROOT, build
from elmo_tasks.common.processes import rank
from elmo_tasks.language_model.counted_vocabulary import CountedVocabulary
from elmo_tasks.language_model.sentence_loader import SentenceLoader
from elmo_tasks.readers.sentences import SentencesReader
from elmo_tasks.training.shared_model import ElmoDdpAccelerator, share_loss

_WARM_UP = 3


class Measured(NamedTuple):
    """
    # Parameters

    speed: Tokens per second of all processes together.
    cpu: Microseconds of CPU time for a token, in the process that took most.
    sent: Bytes of a step that a process gave to `torch.distributed`.
    """

    speed: float
    cpu: float
    sent: float


def main() -> None:
    arguments = parse()
    print(
        f"{machine()}, {arguments.threads} threads a process, PyTorch {torch.__version__}, "
        f"{datetime.date.today()}; {arguments.text.name}, {arguments.words:,} words; "
        f"{arguments.steps} steps\n"
    )
    print("| biLM | dtype | processes | tokens/s | times one | CPU us/token | MB sent a step |")
    print("|---|---|---:|---:|---:|---:|---:|")
    for size in arguments.sizes:
        for dtype in arguments.dtypes:
            first = None
            for count in arguments.processes:
                found = measure(size, dtype, count, arguments)
                first = first or found
                print(
                    f"| {size} | {dtype} | {count} | {found.speed:,.0f} | "
                    f"{found.speed / first.speed:.2f} | {found.cpu:,.0f} | "
                    f"{found.sent / 1e6:.1f} |",
                    flush=True,
                )


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Compares the speed of pre-training on one process and on several."
    )
    add = parser.add_argument
    default = ROOT / "fixtures" / "corpus" / "train.txt"
    help_text = "one tokenized sentence a line; plain, .gz or .xz (default: the text of the tests)"
    add("text", nargs="?", default=default, type=Path, help=help_text)
    add("--processes", nargs="+", type=int, default=[1, 2], help="default: 1 2")
    add("--sizes", nargs="+", default=["mini"], help="configs in training_configs/bilm")
    add("--dtypes", nargs="+", default=["float32"], help="float32 and bfloat16 (default: float32)")
    add("--words", type=int, default=50_000, help="words of the softmax (default: 50000)")
    add("--steps", type=int, default=20, help="steps that are measured (default: 20)")
    add("--threads", type=int, default=1, help="threads of a process (default: 1)")
    return parser.parse_args()


def measure(size: str, dtype: str, count: int, arguments: argparse.Namespace) -> Measured:
    with tempfile.TemporaryDirectory() as folder:
        multiprocessing.spawn(
            work, (count, folder, size, dtype, arguments), nprocs=count, join=True
        )
        parts = [json.loads((Path(folder) / str(index)).read_text()) for index in range(count)]
    return Measured(
        sum(part["tokens"] for part in parts) / max(part["seconds"] for part in parts),
        max(1e6 * part["cpu"] / part["tokens"] for part in parts),
        max(part["sent"] for part in parts),
    )


def work(
    index: int, count: int, folder: str, size: str, dtype: str, arguments: argparse.Namespace
) -> None:
    """Trains in one of the processes, and writes what it measured into the folder."""
    torch.set_num_threads(arguments.threads)
    distributed.init_process_group(
        "gloo", init_method=f"file://{folder}/group", world_size=count, rank=index
    )
    config = json.loads(_jsonnet.evaluate_file(f"{ROOT}/training_configs/bilm/{size}.jsonnet"))
    torch.manual_seed(0)
    batch_tokens = config["data_loader"].get("batch_tokens", 2560)
    loader = SentenceLoader(
        SentencesReader(max_instances=50_000), str(arguments.text), batch_tokens
    )
    loader.index_with(vocabulary(arguments))
    model = build(config["model"], loader._vocab, dtype)
    optimizer = Optimizer.from_params(
        Params(config["trainer"]["optimizer"]),
        model_parameters=[[name, tensor] for name, tensor in model.named_parameters()],
    )
    _, shared = ElmoDdpAccelerator(index, count).wrap_model(model)
    sent = count_bytes()
    num_tokens = sent_before = 0
    start = cpu = 0.0
    batches = (batch for _ in iter(int, 1) for batch in loader)
    for step, batch in enumerate(islice(batches, _WARM_UP + arguments.steps)):
        if step == _WARM_UP:
            distributed.barrier()
            start, cpu, sent_before = time.perf_counter(), time.process_time(), sent[0]
        optimizer.zero_grad()
        outputs = model(**batch)
        num_tokens += int(outputs["num_tokens"]) if step >= _WARM_UP else 0
        share_loss(model, batch, outputs)
        outputs["loss"].backward()
        if rank().num_processes > 1:
            shared.average_gradients()
        torch.nn.utils.clip_grad_norm_(model.parameters(), config["trainer"]["grad_norm"])
        optimizer.step()
    measured = {
        "tokens": num_tokens,
        "seconds": time.perf_counter() - start,
        "cpu": time.process_time() - cpu,
        "sent": (sent[0] - sent_before) / arguments.steps,
    }
    (Path(folder) / str(index)).write_text(json.dumps(measured))
    distributed.barrier()


def vocabulary(arguments: argparse.Namespace) -> CountedVocabulary:
    """Returns the text's own words first, and made-up ones after them, `--words` in all."""
    reader = SentencesReader(max_instances=50_000)
    counter: dict[str, dict[str, int]] = {"tokens": {}}
    for words in reader.sentences(str(arguments.text), (), False):
        for word in ("<S>", *words, "</S>"):
            counter["tokens"][word] = counter["tokens"].get(word, 0) + 1
    vocab = CountedVocabulary(counter, max_vocab_size={"tokens": arguments.words - 1})
    for index in range(arguments.words + 1 - vocab.get_vocab_size("tokens")):
        vocab.add_token_to_namespace(f"@@{index}@@", "tokens")
    return vocab


def count_bytes() -> list[int]:
    """Returns a list whose number grows by the bytes that this process sends from now on."""
    sent = [0]
    for name in ("all_reduce", "broadcast"):

        def counted(tensor: torch.Tensor, *args: Any, do: Any = getattr(distributed, name), **kw):
            sent[0] += tensor.numel() * tensor.element_size()
            return do(tensor, *args, **kw)

        setattr(distributed, name, counted)
    return sent


if __name__ == "__main__":
    main()
