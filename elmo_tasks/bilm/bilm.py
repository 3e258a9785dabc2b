import copy
import json
import logging
import os
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import torch

from elmo_tasks.bilm.bidirectional_lstm import bidirectional_layers, read_direction
from elmo_tasks.bilm.char_cnn import CharCnn
from elmo_tasks.bilm.characters import MAX_CHARACTERS, batch_char_ids, word_char_ids
from elmo_tasks.bilm.files.options import STATES, BiLmOptions, exported, read_options
from elmo_tasks.bilm.files.weights import check_layout, read_weights, write_weights
from elmo_tasks.bilm.frozen_checkpoint import FINGERPRINT, put_back_weights
from elmo_tasks.bilm.lstm_stack import LstmStack
from elmo_tasks.bilm.outputs import BiLmOutput, Prediction
from elmo_tasks.bilm.state import INITIAL_STATES, LstmState, SnapshotState
from elmo_tasks.bilm.token_cache import TokenCache
from elmo_tasks.bilm.token_vectors import TokenVectors
from elmo_tasks.common.boundaries import BEGIN_TOKEN, END_TOKEN
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.files import atomic_write
from elmo_tasks.common.hashing import hash_bytes, hash_tensors
from elmo_tasks.kernels.dtypes import DTYPES, used_dtype
from elmo_tasks.kernels.packing import Packing
from elmo_tasks.kernels.threads import for_each, operator_threads
from elmo_tasks.kernels.weight_cache import WeightCache
from elmo_tasks.store import LayerSource, LayerStore

logger = logging.getLogger(__name__)

# From this number of multiplications on, a product is divided among threads. The number is an
# estimate: only machines with two cores were measured, where it has no effect.
_SHARED_PRODUCT = 1 << 24

# A snapshot is the state after this text, read several times over: enough for the LSTMs to forget
# the zeros they started from.
_SNAPSHOT_TEXT = "The quick brown fox jumps over the lazy dog .".split()
_SNAPSHOT_PASSES = 5


class BiLm(torch.nn.Module):
    """
    The bidirectional language model of Peters et al. 2018, sections 3.1 and 3.2: a character CNN
    and two separate stacks of LSTMs.

    # Parameters

    options : `dict`
        The content of an `options.json` in bilm-tf's format; in jsonnet, `import` the file.
    pretrained_file : `str`, optional
        Weights: a name (`small`, `medium`, `original`, `original-5.5B`, or one of this package,
        such as `mini`), the path or address of a `weights.hdf5`, or a folder or a repository of the
        hub with this file. AllenNLP removes this key from an archived config, and takes the weights
        from the archive.
    state : `str`, optional
        The state that the LSTMs start from: `reset`, `snapshot` or `carry` (see `state.py`). By
        default the one in the options; if they have none, `reset` with `requires_grad`, otherwise
        `snapshot`.
    requires_grad : `bool`, optional (default = `False`)
        Whether the biLM is trained too.
    dropout : `float`, optional (default = `0.0`)
        Dropout on the input of every LSTM layer while the biLM is trained.
    dtype : `str`, optional (default = `'float32'`)
        The dtype of a frozen biLM's matrix products: `float32`; `bfloat16`, which is faster on a
        device that has units for it, and slower than `float32` elsewhere; or `auto`, which takes
        the faster one on the device of the weights. Weights, sums and layers stay in float32. If
        the biLM trains, `auto` is `float32`.
    cached_tokens : `int`, optional (default = `50_000`)
        The number of tokens whose x^LM a frozen biLM on a CPU remembers; 0 for none.
    store : `LayerStore`, optional
        Remembers the layers of every sentence that a frozen biLM has read.

    # Raises

    `ConfigurationError`
        The options or the weights cannot be used, or two settings contradict each other.
    """

    def __init__(
        self,
        options: dict[str, Any],
        pretrained_file: str = None,
        state: str = None,
        requires_grad: bool = False,
        dropout: float = 0.0,
        dtype: str = "float32",
        cached_tokens: int = 50_000,
        store: LayerStore = None,
    ) -> None:
        super().__init__()
        self._raw_options = copy.deepcopy(options)
        self.options = BiLmOptions.from_dict(self._raw_options)
        state = state or self.options.state or ("reset" if requires_grad else "snapshot")
        _check_settings(state, requires_grad, dropout, dtype, store)
        if pretrained_file is not None:
            # Before memory is taken for what the options ask for.
            check_layout(pretrained_file, self.options)
        self.trains = requires_grad
        self.state_name = state
        self.asked_dtype = dtype
        self.store = store
        self.char_cnn = CharCnn(self.options)
        self.forward_stack = LstmStack(self.options, dropout)
        self.backward_stack = LstmStack(self.options, dropout)
        self._set_dtype()
        self.state = INITIAL_STATES[state](self.options)
        boundaries = [
            word_char_ids(word, self.options.max_characters) for word in (BEGIN_TOKEN, END_TOKEN)
        ]
        self.register_buffer("_boundaries", torch.tensor(boundaries), persistent=False)
        self._cached_tokens = cached_tokens
        self._token_cache = WeightCache(_new_token_cache)
        self._weights_hash = WeightCache(hash_tensors)
        self._has_weights = requires_grad
        self.register_load_state_dict_pre_hook(_take_fingerprint)
        self.register_load_state_dict_post_hook(_note_weights)
        self.requires_grad_(requires_grad)
        if pretrained_file is not None:
            self._load_weights(pretrained_file)

    @classmethod
    def from_files(
        cls,
        options_file: str | os.PathLike,
        weight_file: str | os.PathLike,
        state: str | None = None,
        requires_grad: bool = False,
    ) -> "BiLm":
        """Reads a biLM from two files in bilm-tf's format, given by their paths or addresses."""
        options = read_options(options_file)
        return cls(options, str(weight_file), state, requires_grad)

    def to_files(self, folder: str | os.PathLike, dtype: str = "float32") -> None:
        """
        Writes `options.json` and `weights.hdf5`, which AllenNLP and bilm-tf read as well. Each file
        appears whole, the options last. They say which state the biLM starts from.
        """
        options = exported(self._raw_options, self.options, self.state_name)
        with atomic_write(Path(folder) / "options.json") as aside:
            aside.write_text(json.dumps(options, indent=2) + "\n", encoding="utf-8")
            # Within the block, so that neither file appears if one of them cannot be written.
            write_weights(Path(folder) / "weights.hdf5", self.options, self.state_dict(), dtype)

    def frozen(self, store: LayerStore | None = None, dtype: str | None = None) -> "BiLm":
        """
        Returns a frozen copy, with a store or without, that gives a sentence the same layers every
        time. The copy of a biLM that carries its state starts from a snapshot. The copy has the
        same settings `dtype`, unless another one is given, and `cached_tokens`.
        """
        carries = self.state_name == "carry"
        bilm = BiLm(
            self._raw_options,
            state="snapshot" if carries else self.state_name,
            dtype=dtype or self.asked_dtype,
            cached_tokens=self._cached_tokens,
            store=store,
        )
        bilm.to(self._like).load_state_dict({**bilm.state_dict(), **self.state_dict()})
        bilm._has_weights = self._has_weights
        if carries:
            bilm.take_snapshot()
        return bilm.eval()

    @property
    def raw_options(self) -> dict[str, Any]:
        """A copy of the options that this biLM was made with."""
        return copy.deepcopy(self._raw_options)

    @property
    def num_layers(self) -> int:
        """The number of layers that `forward` returns: the token layer and one per LSTM layer."""
        return self.options.num_layers + 1

    def get_output_dim(self) -> int:
        return 2 * self.options.projection_dim

    def forward(self, char_ids: torch.Tensor, boundaries: bool = False) -> BiLmOutput:
        """
        # Parameters

        char_ids : `torch.LongTensor`
            Shape (batch, length, 50), as AllenNLP's indexer `elmo_characters` gives them, with
            zeros at padding.
        boundaries : `bool`, optional (default = `False`)
            Whether the layers have the boundaries of each sentence, which makes them longer by 2. A
            store has none, so they are computed.

        # Returns

        `BiLmOutput`
        """
        if char_ids.dim() != 3 or char_ids.size(2) != self.options.max_characters:
            raise ConfigurationError(
                f"char ids must have shape (batch, length, {self.options.max_characters}), but "
                f"have {tuple(char_ids.shape)}; the indexers elmo_char_ids and elmo_characters "
                f"give {MAX_CHARACTERS} for each token"
            )
        if not self._has_weights:
            logger.warning("This biLM has random weights: give it a pretrained_file.")
            self._has_weights = True
        if self.store is not None and not boundaries:
            layers = self.store.layers(self.source(), char_ids, self._frozen_layers)
            return BiLmOutput(layers.to(self._like), (char_ids > 0).any(dim=-1))
        with torch.set_grad_enabled(self.trains and torch.is_grad_enabled()):
            start = self.state.before(len(char_ids), self._like)
            output, last = self._run(char_ids, start, boundaries)
        self.state.after(last)
        return output

    def weights(self) -> dict[str, torch.Tensor]:
        """Returns all tensors of the state dict, by name, except those of the start state."""
        tensors = self.state_dict()
        return {name: tensors[name] for name in tensors if not name.startswith("state.")}

    def fingerprint(self) -> bytes:
        """
        Returns a hash of the options, the weights, the dtype of the products and the kind of start
        state. The values of the start state are left out.
        """
        return self._fingerprint(self.dtype)

    def fingerprints(self) -> set[bytes]:
        """Returns the fingerprints of this biLM with its products in any dtype."""
        return {self._fingerprint(dtype) for dtype in DTYPES}

    def _fingerprint(self, dtype: str) -> bytes:
        settings = f"{self.options._replace(state=None)} {self.state_name} {dtype}"
        return hash_bytes(settings.encode() + self._weights_hash.get(*self.weights().values()))

    def source(self) -> LayerSource:
        """Describes this biLM to a store."""
        options = self.options
        size = f"{options.num_layers}x{options.cell_dim}_{options.projection_dim}"
        about = {"bilm": f"{size} {self.dtype}", "state": self.state_name}
        parts = [part.detach().float().cpu().flatten() for part in self.state.state_dict().values()]
        start = torch.cat([torch.zeros(0), *parts]).numpy()
        return LayerSource(self.fingerprint(), about, start, self.num_layers, self.get_output_dim())

    def take_snapshot(self) -> None:
        """
        Computes, with the present weights, the state that a `snapshot` biLM starts from. Does
        nothing if the biLM starts from another kind of state.
        """
        if not isinstance(self.state, SnapshotState):
            return
        text = batch_char_ids([_SNAPSHOT_TEXT], self.options.max_characters)
        text = text.to(self._like.device)
        state = self.state.zeros(1, self._like)
        with torch.no_grad(), torch.autocast(text.device.type, enabled=False):
            for _ in range(_SNAPSHOT_PASSES):
                _, state = self._run(text, state)
        self.state.keep(state)

    def predict(
        self, char_ids: torch.Tensor, backward_char_ids: torch.Tensor = None, train: bool = True
    ) -> list[Prediction]:
        """
        Computes what a language model needs from each direction: the top layer at every token that
        the direction reads, and the index of the target there.

        # Parameters

        char_ids : `torch.LongTensor`
            Shape (batch, length, 50). By default, sentences with both boundaries, which both
            directions read. If `backward_char_ids` is given, windows of a running text, which only
            the forward direction reads.
        backward_char_ids : `torch.LongTensor`, optional
            Such windows of a text in which each sentence is reversed, for the backward direction.
            Same shape, and as many tokens in each row.
        train : `bool`, optional (default = `True`)
            Whether gradients reach the biLM.

        # Returns

        `list[Prediction]`
            The predictions of the forward and of the backward direction.
        """
        windows = backward_char_ids is not None
        with torch.set_grad_enabled(train and torch.is_grad_enabled()):
            lengths = (char_ids > 0).any(dim=-1).sum(dim=1)
            # A direction does not read the last boundary of a sentence.
            packing = Packing.of(lengths if windows else lengths - 1, char_ids.size(1))
            tokens = self._tokens(char_ids)
            forward, backward = packing.forward_index, packing.backward_index
            start = self.state.before(len(char_ids), self._like)
            last = self.state.zeros(len(char_ids), self._like)
            ahead = self._top_layer(0, tokens.at(forward), packing, start, last)
            if windows:
                tokens, index, targets = self._tokens(backward_char_ids), forward, [forward] * 2
            else:
                index, targets = backward + 1, [forward + 1, backward]
            back = self._top_layer(1, tokens.at(index), packing, start, last)
        self.state.after(last)
        return [Prediction(ahead, targets[0]), Prediction(back, targets[1])]

    def _apply(self, *args: Any, **kwargs: Any) -> "BiLm":
        """Moves or casts all tensors. On another device, `auto` may be another dtype."""
        super()._apply(*args, **kwargs)
        self._set_dtype()
        return self

    def _set_dtype(self) -> None:
        """Sets the dtype of the products by the setting `dtype` and the device of the weights."""
        keeps_dtype = self.trains or self._like.dtype != torch.float32
        asked = "float32" if self.asked_dtype == "auto" and keeps_dtype else self.asked_dtype
        # `float32` or `bfloat16`.
        self.dtype = used_dtype(asked, self._like.device)
        # `None` stands for the dtype of the weights.
        dtype = torch.bfloat16 if self.dtype == "bfloat16" else None
        for module in (self.char_cnn, *self.forward_stack.layers, *self.backward_stack.layers):
            module.dtype = dtype

    @property
    def _like(self) -> torch.Tensor:
        """A tensor with the device and dtype of all vectors of this biLM."""
        return self.char_cnn.embedding

    @property
    def _stacks(self) -> tuple[LstmStack, LstmStack]:
        return self.forward_stack, self.backward_stack

    def _frozen_layers(self, char_ids: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            return self._run(char_ids, self.state.before(len(char_ids), self._like))[0].layers

    def _run(
        self, char_ids: torch.Tensor, start: LstmState, boundaries: bool = False
    ) -> tuple[BiLmOutput, LstmState]:
        """Computes the layers from a start state; returns them and the state at the end."""
        at_once = self._may_divide() and torch.get_num_threads() > 1
        with operator_threads(self._operator_threads(len(char_ids))) if at_once else nullcontext():
            mask = (char_ids > 0).any(dim=-1)
            lengths = mask.sum(dim=1)
            bounded = self._bounded(char_ids, lengths)
            tokens = self._tokens(bounded, at_once)
            last = self.state.zeros(len(char_ids), tokens.vectors)
            layers = bidirectional_layers(
                self._stacks, tokens, lengths, char_ids.size(1), start, last, at_once, boundaries
            )
        if boundaries:
            mask = (bounded > 0).any(dim=-1) & (lengths > 0).unsqueeze(1)
        return BiLmOutput(layers, mask), last

    def _may_divide(self) -> bool:
        """
        Returns whether work may be divided among threads, which share neither gradients nor the
        order of random numbers.
        """
        trains = self.trains and torch.is_grad_enabled()
        draws = self.training and self.forward_stack.dropout.p > 0
        on_cpu = self._like.device.type == "cpu" and not torch.is_autocast_enabled("cpu")
        return on_cpu and not trains and not draws

    def _operator_threads(self, rows: int) -> int:
        """Returns the number of threads of an operator if two operators run at once."""
        step = rows * 4 * self.options.cell_dim * self.options.projection_dim
        return max(1, torch.get_num_threads() // 2) if step >= _SHARED_PRODUCT else 1

    def _top_layer(
        self,
        direction: int,
        inputs: torch.Tensor,
        packing: Packing,
        start: LstmState,
        last: LstmState,
    ) -> torch.Tensor:
        return read_direction(self._stacks, direction, inputs, packing, start, last)[-1]

    def _bounded(self, char_ids: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Puts each sentence between its boundaries: shape (batch, length + 2, 50)."""
        bounded = torch.nn.functional.pad(char_ids, (0, 0, 1, 1))
        bounded[:, 0] = self._boundaries[0]
        rows = torch.arange(len(char_ids), device=char_ids.device)
        bounded[rows, lengths + 1] = self._boundaries[1]
        return bounded

    def _tokens(self, char_ids: torch.Tensor, at_once: bool = False) -> TokenVectors:
        def compute(distinct: torch.Tensor) -> torch.Tensor:
            return torch.cat(for_each(self.char_cnn, distinct.chunk(2), at_once))

        if not at_once:
            compute = self.char_cnn
        if self._cached_tokens == 0 or char_ids.device.type != "cpu" or self.trains:
            return TokenVectors.of(char_ids, compute)
        cache = self._token_cache.get(*self.char_cnn.parameters(), max_tokens=self._cached_tokens)
        return TokenVectors.of(char_ids, lambda distinct: cache.vectors(distinct, compute))

    def _load_weights(self, weight_file: str) -> None:
        # The tensors are filled in place, so that a large file is in memory only once.
        read_weights(weight_file, self.options, self.state_dict())
        self._has_weights = True
        self.take_snapshot()


def _check_settings(
    state: str, requires_grad: bool, dropout: float, dtype: str, store: LayerStore | None
) -> None:
    if state not in STATES:
        raise ConfigurationError(f"state must be one of {', '.join(STATES)}, not {state!r}")
    if requires_grad and state == "snapshot":
        raise ConfigurationError(
            "a biLM that trains (requires_grad) cannot start from a snapshot, since each step of "
            "the training makes it out of date: state must be reset or carry"
        )
    if store is not None and (requires_grad or dropout > 0 or state == "carry"):
        raise ConfigurationError(
            "a store needs a biLM that gives a sentence the same layers every time: without "
            "requires_grad, without dropout, and with the state reset or snapshot"
        )
    if dtype not in DTYPES:
        raise ConfigurationError(
            f"dtype of a biLM must be one of {', '.join(DTYPES)}, not {dtype!r}"
        )
    if requires_grad and dtype == "bfloat16":
        raise ConfigurationError(
            "a biLM that trains (requires_grad) has its products in float32: dtype must be auto or "
            "float32, not 'bfloat16'"
        )


def _new_token_cache(*_: torch.Tensor, max_tokens: int) -> TokenCache:
    return TokenCache(max_tokens)


def _take_fingerprint(
    bilm: BiLm, state: dict[str, torch.Tensor], prefix: str, _: Any, __: bool, *problems: list[str]
) -> None:
    """Lets `load_state_dict` accept a state dict with a fingerprint instead of the weights."""
    if prefix + FINGERPRINT not in state:
        return
    try:
        whole = put_back_weights(state, prefix, bilm.weights(), bilm.fingerprints())
    except ValueError as error:
        # The three lists hold missing keys, unexpected keys and other problems.
        problems[2].append(f"The file {error}.")
    else:
        del state[prefix + FINGERPRINT]
        state.update(whole)


def _note_weights(bilm: BiLm, _: Any) -> None:
    bilm._has_weights = True
