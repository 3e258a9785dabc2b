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

import http.client
import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice

import torch
from allennlp.common.util import lazy_groups_of

import elmo_tasks.plugin  # noqa: F401  mends AllenNLP
from benchmarks.harness import alternate, parser, report
from elmo_tasks.archives.open_archive import open_archive
from elmo_tasks.elmo import ElmoEncoder
from elmo_tasks.serve.app import ServedModel, make_app
from elmo_tasks.serve.server import listen, make_server

CLIENTS = (1, 8, 64)
BATCHES = (1, 32)


def main() -> None:
    options = parser("serve", __doc__, turns=5)
    add = options.add_argument
    add("archive", help="the model.tar.gz of a model")
    add("inputs", help="inputs of its predictor, as lines of JSON")
    add("--requests", type=int, default=256, help="inputs to ask in each turn (default: 256)")
    add("--threads", type=int, default=1, help="threads of PyTorch (default: 1)")
    arguments = options.parse_args()
    torch.set_num_threads(arguments.threads)
    with open(arguments.inputs, encoding="utf-8") as file:
        inputs = [json.loads(line) for line in islice(file, arguments.requests)]
    model = ServedModel("model", open_archive(arguments.archive))
    with running(model) as port:
        works = {
            **{f"predictor, {size} at a time": predicting(model, inputs, size) for size in BATCHES},
            **{
                f"server, {count} client{'s' if count > 1 else ''}": asking(port, inputs, count)
                for count in CLIENTS
            },
        }
        times = alternate(works, arguments.turns)
    first, num, rows = next(iter(times.values())), len(inputs), []
    for name, (wall, cpu, _) in times.items():
        speed = [f"{num / wall:.0f}", f"{first.wall / wall:.2f}"]
        rows.append([name, *speed, f"{1000 * cpu / num:.2f}", f"{first.cpu / cpu:.2f}"])
    columns = ["", "inputs per second", "ratio", "ms of CPU an input", "ratio"]
    report(columns, rows, f"{num} inputs a turn", times=times.values())


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
            for answer in predictor.predict_batch_json(group):
                predictor.dump_line(answer)

    return measure


def asking(port: int, inputs: list[dict], num_clients: int) -> Callable[[], None]:
    """Returns a function that asks for all inputs."""
    bodies = [json.dumps(request).encode() for request in inputs]

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
