from scripts.docstrings import to_rst

DOCSTRING = """\
Computes ELMo, in `float32`
and quickly.

    elmo = Elmo()

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
    no word.
"""


def test_sections_tables_and_code_become_restructured_text() -> None:
    lines = to_rst(DOCSTRING.replace("flag (`bool`)\n", "flag (`bool`)\n\n").splitlines())

    text = "\n".join(lines)
    while "\n\n\n" in text:
        text = text.replace("\n\n\n", "\n\n")
    assert (
        text.strip()
        == """\
Computes ELMo, in `float32`
and quickly.

::

    elmo = Elmo()

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
    )


def test_a_docstring_without_sections_is_left() -> None:
    assert to_rst(["Returns `x`."]) == ["Returns `x`.", ""]
