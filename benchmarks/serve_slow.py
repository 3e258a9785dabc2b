"""
Measures how long short requests take beside slow ones. Asks a running `elmo-tasks serve` for 50
short answers, one after the other: alone, and while another client asks for the answer to a text of
5,000 words again and again. Prints Markdown.

    elmo-tasks serve sst squad --port 8000
    python benchmarks/serve_slow.py http://127.0.0.1:8000 sst --slow sst squad
"""

import argparse
import datetime
import json
import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.request import Request, urlopen

from benchmarks.machine import machine
from elmo_tasks.analysis.tables import table


def main() -> None:
    args = parse()
    models = {model["name"]: model for model in ask(f"{args.address}/models")["models"]}
    short = f"{args.address}/predict/{args.short}", models[args.short]["examples"][0]
    measure(*short, 3)
    rows = [["none", *measure(*short, args.requests)]]
    for name in args.slow:
        fields = models[name]["fields"]
        text = "word " * (args.words // len(fields))
        slow = f"{args.address}/predict/{name}", dict.fromkeys(fields, text)
        with asking(*slow):
            rows.append([name, *measure(*short, args.requests)])
    print(f"{machine()}, {datetime.date.today().isoformat()}; {args.requests} requests\n")
    print(table(["slow requests", "median, ms", "95th percentile, ms", "largest, ms"], rows))


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measures short requests beside slow ones.")
    add = parser.add_argument
    add("address", help="the address of a server")
    add("short", help="the model of the short requests")
    add("--slow", nargs="+", required=True, help="the models of the slow requests, in turn")
    add("--words", type=int, default=4990, help="words of a slow request (default: 4990)")
    add("--requests", type=int, default=50, help="short requests of a row (default: 50)")
    return parser.parse_args()


def ask(url: str, inputs: Any = None) -> Any:
    body = None if inputs is None else json.dumps(inputs).encode()
    with urlopen(Request(url, body), timeout=600) as response:
        return json.load(response)


def measure(url: str, inputs: Any, count: int) -> list[str]:
    """Asks `count` times; returns the median, 95th percentile and maximum in milliseconds."""
    took = []
    for _ in range(count):
        began = time.perf_counter()
        ask(url, inputs)
        took.append(1000 * (time.perf_counter() - began))
    percentile = statistics.quantiles(took, n=20, method="inclusive")[-1]
    return [f"{value:.0f}" for value in (statistics.median(took), percentile, max(took))]


@contextmanager
def asking(url: str, inputs: Any) -> Iterator[None]:
    """Asks again and again in another thread; the first request is sent before the block runs."""
    stop = threading.Event()

    def client() -> None:
        while not stop.is_set():
            ask(url, inputs)

    thread = threading.Thread(target=client)
    thread.start()
    time.sleep(0.5)
    try:
        yield
    finally:
        stop.set()
        thread.join()


if __name__ == "__main__":
    main()
