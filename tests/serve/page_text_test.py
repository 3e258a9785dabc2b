"""Tests how the page shows texts, by Node; in a browser, `page_test.py` tests the whole page."""

import json
import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo_tasks.common.text import printable
from elmo_tasks.serve.app import STATIC

NODE = shutil.which("node")
# Runs the page's function on the texts of the standard input.
SCRIPT = """
const source = require('fs').readFileSync(process.argv[1], 'utf8');
const start = source.indexOf('const steering'), end = source.indexOf('// Makes an element');
const printable = new Function(`${source.slice(start, end)} return printable;`)();
const texts = JSON.parse(require('fs').readFileSync(0, 'utf8'));
process.stdout.write(JSON.stringify(texts.map(printable)));
"""
CHARACTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\n")
ODD = st.sampled_from("a é\u200c\u200d\ufe0f\U000e0100\u200e\u061c\u200b\U000e0041\x1b\x9b❤")


@pytest.mark.skipif(NODE is None, reason="Node is not installed")
@settings(max_examples=5, deadline=None)
@given(st.lists(st.text(st.one_of(CHARACTERS, ODD)), min_size=20, max_size=100))
def test_the_page_escapes_what_a_terminal_does(texts: list[str]) -> None:
    assert NODE is not None
    shown = subprocess.run(
        [NODE, "-e", SCRIPT, STATIC / "page.js"],
        input=json.dumps(texts).encode(),
        stdout=subprocess.PIPE,
        check=True,
    ).stdout

    assert json.loads(shown) == [printable(text) for text in texts]
