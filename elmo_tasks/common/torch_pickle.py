"""Checks the pickle in a file of PyTorch without loading it."""

import pickletools
import re
from dataclasses import dataclass, field
from typing import Any

# The types and functions that `torch.save` names for tensors, dictionaries and NumPy's scalars.
# `torch.load` calls other functions too, such as `bytearray(10**11)`.
_NAMES = re.compile(
    r"collections OrderedDict|torch\._utils _rebuild_(tensor_v2|parameter)|"
    r"torch (Size|[A-Z]\w+Storage|b?float\d+|u?int\d+|bool)|"
    r"_codecs encode|numpy dtype|numpy\._?core\.multiarray scalar"
)

# For two allowed functions: the index of the argument that is a string, and its allowed values.
# Other codecs could double a text again and again. Other dtypes may have any size.
_STRINGS = {"_codecs encode": (1, "latin1"), "numpy dtype": (0, "[bfiu][1-8]")}

# The maximum numbers of bytes in a pickle (a parameter with its state in Adam takes about 150), of
# items in a value (an item that occurs twice counts twice), and of levels of nested values.
_MOST_BYTES, _MOST_ITEMS, _MOST_DEPTH = 4 * 10**6, 10**6, 50


@dataclass(slots=True)
class _Value:
    argument: Any = None
    parts: list["_Value"] = field(default_factory=list)
    items: int = 1
    depth: int = 1
    is_used: bool = False

    def add(self, parts: list["_Value"]) -> None:
        for part in parts:
            part.is_used = True
            self.items += part.items
            self.depth = max(self.depth, part.depth + 1)
        # `torch.save` fills a value before using it. A value that contains itself has no end.
        if self.is_used:
            raise ValueError("the pickle changes a value that another value already contains")
        if self.items > _MOST_ITEMS:
            raise ValueError(f"a value has more than {_MOST_ITEMS:,} items")
        if self.depth > _MOST_DEPTH:
            raise ValueError(f"a value is nested more than {_MOST_DEPTH} deep")
        self.parts += parts


def check_pickle(data: bytes) -> None:
    """
    Raises `ValueError` for a pickle that `torch.save` would not write, or that would take much time
    or memory. For example, a tuple may hold the same tuple twice, and so on for 60 levels: hashing
    it takes 2^60 steps.
    """
    if len(data) > _MOST_BYTES:
        raise ValueError(f"the pickle has more than {_MOST_BYTES:,} bytes")
    stack: list[_Value] = []
    marks: list[int] = []
    memo: dict[int, _Value] = {}
    argument: Any
    for opcode, argument, _ in pickletools.genops(data):
        before = opcode.stack_before
        if opcode.name == "MARK":
            marks.append(len(stack))
        elif opcode.name in ("BINPUT", "LONG_BINPUT"):
            memo[argument] = stack[-1]
        elif opcode.name in ("BINGET", "LONG_BINGET"):
            stack.append(memo[argument])
        elif before or opcode.stack_after:
            if pickletools.markobject in before:
                start = marks.pop() - before.index(pickletools.markobject)
            else:
                start = len(stack) - len(before)
            if start < (marks[-1] if marks else 0):
                raise ValueError("the pickle reads a value that is not there")
            taken = stack[start:]
            del stack[start:]
            stack.append(_made(opcode.name, argument, taken))


def _made(name: str, argument: Any, taken: list[_Value]) -> _Value:
    # Numbers of more than 64 bits may share a hash. A dictionary of them then takes hours.
    if isinstance(argument, int) and abs(argument) >= 2**63:
        raise ValueError("the pickle has a number of more than 64 bits")
    if name == "GLOBAL" and not _NAMES.fullmatch(argument):
        raise ValueError(f"the pickle names {argument!r:.80}")
    if name in ("REDUCE", "NEWOBJ"):
        function, arguments = taken
        place, pattern = _STRINGS.get(function.argument, (0, None))
        if pattern and not re.fullmatch(pattern, str(arguments.parts[place].argument)):
            raise ValueError(f"the pickle calls {function.argument} as `torch.save` does not")
    if name in ("APPEND", "APPENDS", "SETITEM", "SETITEMS", "BUILD"):
        value, *taken = taken
    else:
        value = _Value(argument)
    value.add(taken)
    return value
