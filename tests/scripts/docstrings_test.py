import re

from scripts.docstrings import to_rst

DOCSTRING = """\
Computes ELMo, in `float32`
and quickly.

    elmo = Elmo()

examples:
  elmo-tasks embed 'news/*.txt'

| name | what |
| --- | --- |
| `x` | the input |
| y | |

# Parameters

bilm, mix (default `None`): The biLM.
    It is frozen.

    A second paragraph.
flag (`bool`)

# Returns

Shape (batch,), with
zeros.

# Raises

`ValueError`: There is
    no word."""

EXPECTED = """\
Computes ELMo, in `float32`
and quickly.

::

    elmo = Elmo()

examples::

  elmo-tasks embed 'news/*.txt'

.. list-table::
   :header-rows: 1

   * - name
     - what
   * - `x`
     - the input
   * - y
     -

**Parameters**

- **bilm, mix** (default `None`): The biLM.
  It is frozen.

  A second paragraph.

- **flag** (`bool`)

**Returns**

Shape (batch,), with
zeros.

**Raises**

- `ValueError`: There is
  no word."""


def test_sections_tables_and_code_become_restructured_text() -> None:
    text = "\n".join(to_rst(DOCSTRING.splitlines()))

    assert re.sub(r"\n{3,}", "\n\n", text).strip() == EXPECTED
