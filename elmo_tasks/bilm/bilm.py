import copy
import json
import logging
import os
from pathlib import Path
from typing import Any

import torch
from allennlp.common import FromParams, Params
from allennlp.modules.elmo import batch_to_ids

from elmo_tasks.bilm.char_cnn import (
    BEGIN_SENTENCE,
    END_SENTENCE,
    PAD_CHARACTER,
    CharCnn,
    boundary_char_ids,
)
from elmo_tasks.bilm.files.options import STATES, BiLmOptions, exported, read_options
from elmo_tasks.bilm.files.weights import read_weights, write_weights
from elmo_tasks.bilm.frozen_checkpoint import take_stand_in
from elmo_tasks.bilm.lstm_stack import LstmStack
from elmo_tasks.bilm.outputs import BiLmOutput, Prediction
from elmo_tasks.bilm.packing import Packing
from elmo_tasks.bilm.products import Derived
from elmo_tasks.bilm.recurrence import LstmState
from elmo_tasks.bilm.state import INITIAL_STATES, SnapshotState
from elmo_tasks.bilm.token_cache import TokenCache
from elmo_tasks.common.distinct_rows import DistinctTokens, distinct_rows
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.files import written_aside
from elmo_tasks.common.hashing import hash_bytes, hash_tensors
from elmo_tasks.store.layer_store import LayerStore

logger = logging.getLogger(__name__)

# Of the products of a biLM that does not train; none: that of the weights, which may be float64.
_DTYPES = {"float32": None, "bfloat16": torch.bfloat16}

# A snapshot is the state after this text, read over and over: enough for the LSTMs to forget the
# zeros they started from.
_SNAPSHOT_TEXT = "The quick brown fox jumps over the lazy dog .".split()
_SNAPSHOT_PASSES = 5


class BiLm(torch.nn.Module, FromParams):
    """
    The bidirectional language model of Peters et al. 2018, section 3.1 and 3.2: a character CNN
    and two separate stacks of LSTMs.

    # Parameters

    options : `dict`
        The content of an `options.json` of bilm-tf's layout; in jsonnet, `import` the file.
    pretrained_file : `str`, optional
        Weights: a name (`small`, `medium`, `original`, `original-5.5B`, or one that comes with the
        package, as `mini`), or the path or address of a `weights.hdf5`. AllenNLP strips this key
        from an archived config, so that an archive needs nothing else.
    state : `str`, optional
        What the LSTMs start from: `reset`, `snapshot` or `carry` (see `state.py`). By default what
        the options say, and otherwise `snapshot`, or `reset` where `requires_grad`.
    requires_grad : `bool`, optional (default = `False`)
        Whether the biLM trains too.
    dropout : `float`, optional (default = `0.0`)
        On the input of every LSTM layer while the biLM trains.
    dtype : `str`, optional (default = `'float32'`)
        Of the products of a biLM that does not train: `float32`, or `bfloat16`, which is several
        times as fast on a CPU that has it. Weights, sums and layers stay in float32.
    cached_tokens : `int`, optional (default = `50_000`)
        Tokens whose x^LM is remembered, on a CPU and while the biLM does not train; 0 for none.
    store : `LayerStore`, optional
        Remembers the layers of every sentence, for a biLM that does not train.
    serialization_dir : `str`, optional
        AllenNLP gives it: an archive is loaded without the store that it was trained with.
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
        serialization_dir: str = None,
    ) -> None:
        super().__init__()
        self._raw_options = copy.deepcopy(Params(options).as_dict(quiet=True))
        self.options = BiLmOptions.from_dict(self._raw_options)
        self.trains = requires_grad
        state = state or self.options.state or ("reset" if requires_grad else "snapshot")
        if state not in STATES:
            raise ConfigurationError(f"state must be one of {', '.join(STATES)}, not {state!r}")
        if requires_grad and state == "snapshot":
            raise ConfigurationError(
                "a biLM that trains (requires_grad) cannot start from a snapshot, which its next "
                "step would make untrue: state must be reset or carry"
            )
        if store is not None and (requires_grad or dropout > 0 or state == "carry"):
            raise ConfigurationError(
                "a store needs a biLM that gives a sentence the same layers every time: without "
                "requires_grad, without dropout, and with the state reset or snapshot"
            )
        if dtype not in _DTYPES or (requires_grad and dtype != "float32"):
            raise ConfigurationError(
                f"dtype of a biLM must be {' or '.join(_DTYPES)}, and float32 where it trains, "
                f"not {dtype!r}"
            )
        self.state_name = state
        self.dtype = dtype
        self.char_cnn = CharCnn(self.options, _DTYPES[dtype])
        self.forward_stack = LstmStack(self.options, dropout, _DTYPES[dtype])
        self.backward_stack = LstmStack(self.options, dropout, _DTYPES[dtype])
        # Made anew when the weights are others.
        self._token_cache = Derived(_new_token_cache)
        self._cached_tokens = 0 if requires_grad else cached_tokens
        self.state = INITIAL_STATES[state](self.options)
        boundaries = [
            boundary_char_ids(character, self.options.max_characters)
            for character in (BEGIN_SENTENCE, END_SENTENCE)
        ]
        self.register_buffer("_boundaries", torch.stack(boundaries), persistent=False)
        self._has_weights = requires_grad
        self.register_load_state_dict_pre_hook(take_stand_in)
        self.register_load_state_dict_post_hook(_note_weights)
        self.requires_grad_(requires_grad)
        self._weights_hash = Derived(hash_tensors)
        if store is not None and pretrained_file is None and serialization_dir is not None:
            # An archive, which has no file of weights to read.
            store = None if store.is_closed_by(serialization_dir) else store
        self.store = store
        if pretrained_file is not None:
            self._read(pretrained_file)

    @classmethod
    def from_files(
        cls,
        options_file: str | os.PathLike,
        weight_file: str | os.PathLike,
        state: str | None = None,
        requires_grad: bool = False,
    ) -> "BiLm":
        """A `BiLm` from the two files of bilm-tf's layout, by path or address."""
        options = read_options(options_file)
        return cls(options, str(weight_file), state, requires_grad)

    def to_files(self, folder: str | os.PathLike, dtype: str = "float32") -> None:
        """
        Writes `options.json` and `weights.hdf5`, which upstream's loaders read as well, whole or
        not at all. The options say which state the biLM starts from.
        """
        options = exported(self._raw_options, self.options, self.state_name)
        with written_aside(Path(folder) / "options.json") as aside:
            aside.write_text(json.dumps(options, indent=2) + "\n", encoding="utf-8")
            # Within, so that neither file appears where one of them cannot be written.
            write_weights(Path(folder) / "weights.hdf5", self.options, self.state_dict(), dtype)

    def frozen(self, store: LayerStore | None = None) -> "BiLm":
        """
        A copy, with a store or without, that does not train and gives a sentence the same layers
        every time: where this one carries its state, it has a snapshot.
        """
        carries = self.state_name == "carry"
        state = "snapshot" if carries else self.state_name
        bilm = BiLm(self._raw_options, state=state, dtype=self.dtype, store=store)
        bilm.to(self.char_cnn.embedding).load_state_dict({**bilm.state_dict(), **self.state_dict()})
        if carries:
            bilm.take_snapshot()
        return bilm.eval()

    @property
    def num_layers(self) -> int:
        """Layers that `forward` returns: that of the tokens and those of the LSTMs."""
        return self.options.num_layers + 1

    def get_output_dim(self) -> int:
        return 2 * self.options.projection_dim

    def forward(self, char_ids: torch.Tensor) -> BiLmOutput:
        """
        # Parameters

        char_ids : `torch.LongTensor`
            Shape (batch, length, 50), of AllenNLP's `elmo_characters` indexer; zeros are padding.

        # Returns

        `BiLmOutput`
        """
        if char_ids.dim() != 3 or char_ids.size(2) != self.options.max_characters:
            raise ConfigurationError(
                f"char ids must have shape (batch, length, {self.options.max_characters}), but "
                f"have {tuple(char_ids.shape)}; the indexer to use is elmo_characters"
            )
        if not self._has_weights:
            logger.warning("This biLM has random weights: give it a pretrained_file.")
            self._has_weights = True
        if self.store is not None:
            layers = self.store.layers(self, char_ids, self._layers)
            return BiLmOutput(layers, (char_ids > 0).any(dim=-1))
        with torch.set_grad_enabled(self.trains and torch.is_grad_enabled()):
            output, last = self._run(
                char_ids, self.state.before(len(char_ids), self.char_cnn.embedding)
            )
        self.state.after(last)
        return output

    def weights(self) -> dict[str, torch.Tensor]:
        """All that is saved of the biLM but the state it starts from, by name."""
        tensors = self.state_dict()
        return {name: tensors[name] for name in tensors if not name.startswith("state.")}

    def fingerprint(self) -> bytes:
        """What tells its layers from those of other weights, but for the state it starts from."""
        settings = f"{self.options._replace(state=None)} {self.state_name} {self.dtype}"
        return hash_bytes(settings.encode() + self._weights_hash.of(*self.weights().values()))

    def take_snapshot(self) -> None:
        """Sets the state that a `snapshot` biLM starts from, anew from its present weights."""
        if not isinstance(self.state, SnapshotState):
            return
        text = batch_to_ids([_SNAPSHOT_TEXT]).to(self._boundaries.device)
        missing = self.options.max_characters - text.size(2)
        text = torch.nn.functional.pad(text, (0, missing), value=PAD_CHARACTER)
        state = self.state.zeros(1, self.char_cnn.embedding)
        with torch.no_grad(), torch.autocast(text.device.type, enabled=False):
            for _ in range(_SNAPSHOT_PASSES):
                _, state = self._run(text, state)
        self.state.keep(state)

    def predict(
        self, char_ids: torch.Tensor, backward_char_ids: torch.Tensor = None, train: bool = True
    ) -> list[Prediction]:
        """
        What a language model needs of each direction: its top layer at every token, and which
        token comes next.

        # Parameters

        char_ids : `torch.LongTensor`
            Shape (batch, length, 50). Sentences with both boundaries, which both directions read;
            or, where `backward_char_ids` is given, windows of a running text with the first token
            of the next, for the forward direction.
        backward_char_ids : `torch.LongTensor`, optional
            The same shape; windows of a running text that is read from its end.
        train : `bool`, optional (default = `True`)
            Whether gradients reach the biLM.

        # Returns

        `list[Prediction]`
            Of the forward and of the backward direction.
        """
        with torch.set_grad_enabled(train and torch.is_grad_enabled()):
            lengths = (char_ids > 0).any(dim=-1).sum(dim=1)
            packing = Packing.of(lengths - 1, char_ids.size(1))
            tokens = self._tokens(char_ids)
            forward, backward = packing.forward_index, packing.backward_index
            start = self.state.before(len(char_ids), self.char_cnn.embedding)
            last = self.state.zeros(len(char_ids), self.char_cnn.embedding)
            ahead = self._read_direction(0, tokens, forward, packing, start, last)[-1]
            if backward_char_ids is None:
                index, following = backward + 1, backward
            else:
                tokens, index, following = self._tokens(backward_char_ids), forward, forward + 1
            back = self._read_direction(1, tokens, index, packing, start, last)[-1]
        self.state.after(last)
        return [Prediction(ahead, forward + 1), Prediction(back, following)]

    def _layers(self, char_ids: torch.Tensor) -> torch.Tensor:
        """For the store: of a biLM that does not train, from the state it always starts from."""
        with torch.no_grad():
            start = self.state.before(len(char_ids), self.char_cnn.embedding)
            return self._run(char_ids, start)[0].layers

    def _run(self, char_ids: torch.Tensor, start: LstmState) -> tuple[BiLmOutput, LstmState]:
        """The layers from a given state (see `InitialState.zeros`), and the state at the end."""
        batch_size, length, _ = char_ids.shape
        mask = (char_ids > 0).any(dim=-1)
        lengths = mask.sum(dim=1)
        packing = Packing.of(lengths + 2, length + 2)
        tokens = self._tokens(self._bounded(char_ids, lengths))
        last = self.state.zeros(batch_size, tokens.vectors)
        layers = tokens.vectors.new_zeros(
            batch_size, self.num_layers, length, self.get_output_dim()
        )
        for d, index in enumerate((packing.forward_index, packing.backward_index)):
            outputs = self._read_direction(d, tokens, index, packing, start, last)
            rows, places = index // (length + 2), index % (length + 2)
            inside = (places > 0) & (places <= lengths[rows])
            rows, places = rows[inside], places[inside] - 1
            columns = slice(d * self.options.projection_dim, (d + 1) * self.options.projection_dim)
            for number, output in enumerate(outputs):
                layers[rows, number, places, columns] = output[inside]
        return BiLmOutput(layers, mask), last

    def _read_direction(
        self,
        d: int,
        tokens: DistinctTokens,
        index: torch.Tensor,
        packing: Packing,
        start: LstmState,
        last: LstmState,
    ) -> list[torch.Tensor]:
        """
        Every layer of one direction, which reads the tokens in the order of `index`, packed; from
        `start`, with the state after it written to `last`.
        """
        stack = self.backward_stack if d else self.forward_stack
        inputs = tokens.at(index)
        before = LstmState(*(part[:, d, packing.rows] for part in start))
        outputs, after = stack(inputs, packing.batch_sizes, before)
        for part, ended in zip(last, after):
            part[:, d, packing.rows] = ended
        return [inputs, *outputs]

    def _bounded(self, char_ids: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """With the boundaries of each sentence: shape (batch, length + 2, 50)."""
        bounded = torch.nn.functional.pad(char_ids, (0, 0, 1, 1))
        bounded[:, 0] = self._boundaries[0]
        rows = torch.arange(len(char_ids), device=char_ids.device)
        bounded[rows, lengths + 1] = self._boundaries[1]
        return bounded

    def _tokens(self, char_ids: torch.Tensor) -> DistinctTokens:
        distinct, places = distinct_rows(char_ids.flatten(0, 1))
        if self._cached_tokens == 0 or char_ids.device.type != "cpu" or self.trains:
            return DistinctTokens(self.char_cnn(distinct), places)
        cache = self._token_cache.of(*self.char_cnn.parameters(), max_tokens=self._cached_tokens)
        return DistinctTokens(cache.vectors(distinct, self.char_cnn), places)

    def _read(self, weight_file: str) -> None:
        # In place, so that a large file is in memory once.
        read_weights(weight_file, self.options, self.state_dict())
        self._has_weights = True
        self.take_snapshot()


def _new_token_cache(*_: torch.Tensor, max_tokens: int) -> TokenCache:
    return TokenCache(max_tokens)


def _note_weights(bilm: BiLm, _: Any) -> None:
    bilm._has_weights = True
