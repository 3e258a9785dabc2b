import re
from collections.abc import Callable
from pathlib import Path

from allennlp.models import load_archive

from benchmarks.serve_slow import main
from elmo_tasks.serve.served_model import ServedModel
from tests.helpers.archives import sst
from tests.helpers.served import app_of, running


def test_a_row_for_each_slow_model_is_printed(tmp_path: Path, printed: Callable[..., str]) -> None:
    model = ServedModel("feelings", load_archive(str(sst(tmp_path, "baseline"))))
    with running(app_of([model])) as address:
        settings = ["--slow", "feelings", "--words", "300", "--requests", "3"]

        out = printed(main, address, "feelings", *settings)

    assert "; 3 requests\n" in out
    rows = re.findall(r"^\| (\w+) +\| +(\d+) \| +(\d+) \| +(\d+) \|$", out, re.MULTILINE)
    assert [name for name, *_ in rows] == ["none", "feelings"]
    for _, median, percentile, largest in rows:
        assert int(median) <= int(percentile) <= int(largest)
