"""
Measures how many requests `elmo-tasks serve` answers in a second for 1, 8 and 64 clients, beside
the predictor that `elmo-tasks predict` calls, with one input at a time and with 32. Prints
Markdown. The milliseconds of CPU time, of server and clients together, are for a machine that other
programs use as well.

    python benchmarks/serve.py runs/sst/both/model.tar.gz in.jsonl

Each client sends its next request when it has the answer to the last one. The clients run in the
process of the server, so the cores do their work too. The rows take turns; each figure is the
median.
"""

import argparse
import datetime
import http.client
import json
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice

import torch
from allennlp.common.util import lazy_groups_of

import elmo_tasks.plugin  # noqa: F401  mends AllenNLP
from benchmarks.machine import machine
from elmo_tasks.analysis.tables import table
from elmo_tasks.archives.open_archive import open_archive
from elmo_tasks.elmo import ElmoEncoder
from elmo_tasks.serve.app import make_app
from elmo_tasks.serve.served_model import ServedModel
from elmo_tasks.serve.server import listen, make_server

CLIENTS = (1, 8, 64)
BATCHES = (1, 32)


def main() -> None:
    arguments = parse()
    torch.set_num_threads(arguments.threads)
    with open(arguments.inputs, encoding="utf-8") as file:
        inputs = [json.loads(line) for line in islice(file, arguments.requests)]
    model = ServedModel("model", open_archive(arguments.archive))
    with running(model) as port:
        rows = {
            **{f"predictor, {size} at a time": predicting(model, inputs, size) for size in BATCHES},
            **{f"server, {clients(count)}": asking(port, inputs, count) for count in CLIENTS},
        }
        for measure in rows.values():
            measure()
        turns = [{name: timed(rows[name]) for name in rows} for _ in range(arguments.turns)]
    date = datetime.date.today().isoformat()
    print(f"{machine()}, {arguments.threads} threads, {date}; {len(inputs)} inputs a turn\n")
    medians = {
        name: [statistics.median(seconds) for seconds in zip(*(turn[name] for turn in turns))]
        for name in rows
    }
    first, first_cpu = next(iter(medians.values()))
    cells = [
        [name, f"{len(inputs) / seconds:.0f}", f"{first / seconds:.2f}"]
        + [f"{1000 * cpu / len(inputs):.2f}", f"{first_cpu / cpu:.2f}"]
        for name, (seconds, cpu) in medians.items()
    ]
    print(table(["", "inputs per second", "ratio", "ms of CPU an input", "ratio"], cells))


def timed(measure: Callable[[], None]) -> tuple[float, float]:
    """Returns the seconds that a function takes, and those of CPU time."""
    start, cpu = time.perf_counter(), time.process_time()
    measure()
    return time.perf_counter() - start, time.process_time() - cpu


def clients(count: int) -> str:
    return "1 client" if count == 1 else f"{count} clients"


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measures how fast elmo-serve answers.")
    add = parser.add_argument
    add("archive", help="the model.tar.gz of a model")
    add("inputs", help="inputs of its predictor, as lines of JSON")
    add("--requests", type=int, default=256, help="inputs to ask in each turn (default: 256)")
    add("--turns", type=int, default=5, help="measurements of each rate (default: 5)")
    add("--threads", type=int, default=1, help="threads of PyTorch (default: 1)")
    return parser.parse_args()


@contextmanager
def running(model: ServedModel) -> Iterator[int]:
    """Yields the port of a server."""
    app = make_app([model], ElmoEncoder.from_pretrained("mini").layers, "mini")
    with listen("127.0.0.1", 0) as listening:
        server = make_server(app)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        yield listening.getsockname()[1]
        server.should_exit = True
        thread.join()


def predicting(model: ServedModel, inputs: list[dict], size: int) -> Callable[[], None]:
    """Returns a function that predicts all inputs."""
    predictor = model.predictor

    def measure() -> None:
        for group in lazy_groups_of(inputs, size):
            answers = (
                [predictor.predict_json(group[0])]
                if size == 1
                else predictor.predict_batch_json(group)
            )
            for answer in answers:
                predictor.dump_line(answer)

    return measure


def asking(port: int, inputs: list[dict], num_clients: int) -> Callable[[], None]:
    """Returns a function that asks for all inputs."""
    bodies = [json.dumps(each).encode() for each in inputs]

    def client(mine: list[bytes]) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port)
        for body in mine:
            connection.request("POST", "/predict/model", body)
            response = connection.getresponse()
            response.read()
            assert response.status == 200
        connection.close()

    def measure() -> None:
        with ThreadPoolExecutor(num_clients) as pool:
            list(pool.map(client, [bodies[k::num_clients] for k in range(num_clients)]))

    return measure


if __name__ == "__main__":
    main()
