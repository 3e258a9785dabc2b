import pickletools
from pathlib import Path

import torch

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.fetch import check_regular
from elmo_tasks.common.torch_file import check_torch_file
from elmo_tasks.common.torch_pickle import check_pickle

# A file of PyTorch before 1.6 begins with five pickles: the number 0x1950a86a20f9469cfc6c, and four
# that `check_pickle` checks. The numbers of the tensors follow.
_OLD_START = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
_NUM_PICKLES, _MAX_PICKLE = 4, 4 * 10**6


def read_tensors(path: Path) -> dict[str, torch.Tensor]:
    """
    Reads named tensors from a file that any version of `torch.save` wrote. Raises
    `ConfigurationError` if the file is missing, is damaged, or holds anything else.
    """
    try:
        check_regular(path)
        with open(path, "rb") as file:
            is_old = file.read(1) == b"\x80"
        (_check_old_file if is_old else check_torch_file)(path)
        tensors = torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError as error:
        raise ConfigurationError(f"there is no file {path}") from error
    except ConfigurationError:
        raise
    # PyTorch raises errors of many kinds for a file that is damaged or made to do harm.
    except Exception as error:
        reason = str(error).strip().partition("\n")[0]
        raise ConfigurationError(f"{path} holds no tensors of PyTorch: {reason:.200}") from error
    if not isinstance(tensors, dict) or not all(
        isinstance(tensor, torch.Tensor) for tensor in tensors.values()
    ):
        raise ConfigurationError(f"{path} holds something other than tensors")
    return dict(tensors)


def _check_old_file(path: Path) -> None:
    """Checks the pickles of a file of PyTorch before 1.6 without loading them."""
    with open(path, "rb") as file:
        if file.read(len(_OLD_START)) != _OLD_START:
            raise ValueError("it does not begin as `torch.save` did before 1.6")
        for _ in range(_NUM_PICKLES):
            start = file.tell()
            for _ in pickletools.genops(file):
                if file.tell() - start > _MAX_PICKLE:
                    raise ValueError(f"a pickle has more than {_MAX_PICKLE:,} bytes")
            size = file.tell() - start
            file.seek(start)
            check_pickle(file.read(size))
