import copy
import json
import os
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple, Union

import torch
from torch.nn.functional import pad

from elmo_tasks.bilm.bidirectional_lstm import DistinctVectors, bidirectional_layers
from elmo_tasks.bilm.char_cnn import CharCnn
from elmo_tasks.bilm.files.options import STATES, BiLmOptions, options_to_write
from elmo_tasks.bilm.files.weights import write_weights
from elmo_tasks.bilm.formats import TokenLayer, format_of
from elmo_tasks.bilm.lexicon import WordTable, write_vocabulary
from elmo_tasks.bilm.projected_lstm import LstmStack
from elmo_tasks.bilm.state import INITIAL_STATES, LstmState
from elmo_tasks.common.characters import fitted_char_ids, word_char_ids
from elmo_tasks.common.errors import ConfigurationError, check_choice
from elmo_tasks.common.file_names import MIX_FILE, OPTIONS_FILE, OTHER_FILES, WEIGHTS_FILE
from elmo_tasks.common.files import atomic_write
from elmo_tasks.common.tensors import hash_tensors
from elmo_tasks.common.text import BEGIN_TOKEN, END_TOKEN
from elmo_tasks.kernels.threads import for_each, two_at_once


class BiLmOutput(NamedTuple):
    """
    The layers of a batch of sentences.

    # Parameters

    layers: Shape (batch, num_layers + 1, length, 2 * projection_dim): h_{k,0} to h_{k,L}, zeros at
        padding. Layer 0 is [x^LM; x^LM].
    mask (`torch.BoolTensor`): Shape (batch, length): true at tokens.
    """

    layers: torch.Tensor
    mask: torch.Tensor


class BiLm(torch.nn.Module):
    """
    The bidirectional language model of Peters et al. 2018, sections 3.1 and 3.2: a character CNN
    (or a table of words, or both), and two separate stacks of LSTMs. The weights of a `BiLm` can be
    trained; the weights of a `FrozenBiLm` cannot.

    # Parameters

    options: The content of an `options.json` in bilm-tf's format, or its `BiLmOptions`.
    state: The state that the LSTMs start from: `reset`, `snapshot` or `carry` (see `state.py`).
    dropout: Dropout on the input of every LSTM layer.

    # Raises

    `ConfigurationError`: The options cannot be used, or there is no such state.
    """

    trains = True
    char_cnn: CharCnn
    word_table: WordTable

    def __init__(
        self, options: Union[dict[str, Any], BiLmOptions], state: str, dropout: float = 0.0
    ) -> None:
        super().__init__()
        check_choice("state", state, STATES)
        self.options = (
            options if isinstance(options, BiLmOptions) else BiLmOptions.from_dict(options)
        )
        self.state_name = state
        self.format = format_of(self.options)
        self.add_module(self.format.key, self.format.token_layer(self.options))
        self.forward_stack = LstmStack(self.options, dropout)
        self.backward_stack = LstmStack(self.options, dropout)
        self.state = INITIAL_STATES[state](self.options)
        boundaries = [
            word_char_ids(word, self.options.max_characters) for word in (BEGIN_TOKEN, END_TOKEN)
        ]
        self.register_buffer("_boundaries", torch.tensor(boundaries), persistent=False)

    def to_files(self, folder: str | os.PathLike, dtype: str = "float32") -> None:
        """
        Writes `options.json`, with the start state, and `weights.hdf5`, rounded to `dtype`.
        AllenNLP and bilm-tf can read these files too. A biLM of words also gets its `vocab.txt`.
        Each file appears whole, and the options appear last, so a folder with options is complete.
        Files of these names are replaced. A `mix.json` is removed, because it belongs to the old
        biLM. Raises `ConfigurationError` if the folder has a biLM of another format, because a
        reader of the folder would open that biLM.
        """
        if not self.format.in_hdf5:
            raise ConfigurationError(
                f"a biLM of {self.format.name} cannot be written as options.json and weights.hdf5: "
                "use the folder that it was read from"
            )
        for _, file in OTHER_FILES:
            if (Path(folder) / file).exists():
                raise ConfigurationError(
                    f"{folder} has {file} of another biLM; whoever opens the folder would get "
                    "that biLM, not this one: choose another folder"
                )
        options = options_to_write(self.options, self.state_name)
        with atomic_write(Path(folder) / OPTIONS_FILE) as aside:
            aside.write_text(json.dumps(options, indent=2) + "\n", encoding="utf-8")
            # The options appear at the end of this block.
            write_weights(Path(folder) / WEIGHTS_FILE, self.options, self.state_dict(), dtype)
            if self.options.num_words:
                write_vocabulary(folder, self.word_table.lexicon.get_words())
            (Path(folder) / MIX_FILE).unlink(missing_ok=True)

    @property
    def raw_options(self) -> dict[str, Any]:
        """A copy of the options that this biLM was made with."""
        return copy.deepcopy(self.options.raw)

    @property
    def num_layers(self) -> int:
        """The number of layers that `forward` returns, the token layer included."""
        return self.options.num_layers + 1

    def get_output_dim(self) -> int:
        return 2 * self.options.projection_dim

    @property
    def like(self) -> torch.Tensor:
        """A tensor with the device and dtype of all vectors of this biLM."""
        return self.token_layer.embedding

    @property
    def token_layer(self) -> TokenLayer:
        """Computes x^LM of tokens from their char ids."""
        return getattr(self, self.format.key)

    @property
    def stacks(self) -> tuple[LstmStack, LstmStack]:
        return self.forward_stack, self.backward_stack

    def weights(self) -> dict[str, torch.Tensor]:
        """Returns all tensors of the state dict, by name, except the start state."""
        tensors = self.state_dict()
        return {name: tensors[name] for name in tensors if not name.startswith("state.")}

    def weights_hash(self) -> bytes:
        """Returns a hash of the weights. Every process computes the same hash."""
        return hash_tensors(*(tensor for _, tensor in sorted(self.weights().items())))

    def read(self, path: str | os.PathLike) -> None:
        """
        Fills the weights, in place, from a file. Raises `ConfigurationError` if the file does not
        fit the options.
        """
        with self.format.open(os.fspath(path), self.options) as weights:
            weights.fill(self.state_dict(), self.token_layer)

    def take_snapshot(self) -> None:
        """Computes the start state of a `snapshot` biLM from its present weights."""
        self.state.take(
            lambda text, start: self.run(text, start)[1], self.like, self.options.max_characters
        )

    def forward(self, char_ids: torch.Tensor, boundaries: bool = False) -> BiLmOutput:
        """
        # Parameters

        char_ids (`torch.LongTensor`): Shape (batch, length, 50), as AllenNLP's indexer
            `elmo_characters` gives them, with zeros at padding. The last size may differ (see
            `fitted`).
        boundaries: Whether the layers include the boundaries of each sentence;
            the length is then greater by 2.
        """
        char_ids = self.fitted(char_ids)
        start = self.state.before(len(char_ids), self.like)
        output, last = self.run(char_ids, start, boundaries)
        self.state.after(last)
        return output

    def fitted(self, char_ids: torch.Tensor) -> torch.Tensor:
        """
        Cuts or pads char ids to the number of characters per token that the options give (see
        `fitted_char_ids`).
        """
        return fitted_char_ids(char_ids, self.options.max_characters)

    def run(
        self, char_ids: torch.Tensor, start: LstmState, boundaries: bool = False
    ) -> tuple[BiLmOutput, LstmState]:
        """Computes the layers from a start state. Returns the layers and the state at the end."""
        with self.two_at_once(len(char_ids)) as at_once:
            mask = (char_ids > 0).any(dim=-1)
            lengths = mask.sum(dim=1)
            bounded = self._with_boundaries(char_ids, lengths)
            tokens = self.token_vectors(bounded, at_once)
            last = self.state.zeros(len(char_ids), tokens.vectors)
            layers = bidirectional_layers(
                self.stacks, tokens, lengths, char_ids.size(1), start, last, at_once, boundaries
            )
        if boundaries:
            mask = (bounded > 0).any(dim=-1) & (lengths > 0).unsqueeze(1)
        return BiLmOutput(layers, mask), last

    def token_vectors(self, char_ids: torch.Tensor, at_once: bool = False) -> DistinctVectors:
        """Computes x^LM of char ids of shape (batch, length, 50), on two threads if `at_once`."""
        return DistinctVectors.of(char_ids, lambda distinct: self._vectors(distinct, at_once))

    def _vectors(self, char_ids: torch.Tensor, at_once: bool) -> torch.Tensor:
        """Computes x^LM of distinct tokens from char ids of shape (tokens, 50)."""
        if not at_once:
            return self.token_layer(char_ids)
        return torch.cat(for_each(self.token_layer, char_ids.chunk(2), at_once))

    def two_at_once(self, num_rows: int) -> AbstractContextManager[bool]:
        """
        Yields whether two threads may share the work on `num_rows` sentences. They may if the biLM
        is on a CPU, without gradients, autocast and dropout.
        """
        step = num_rows * 4 * self.options.cell_dim * self.options.projection_dim
        draws = self.training and self.forward_stack.dropout.p > 0
        on_cpu = self.like.device.type == "cpu" and not torch.is_autocast_enabled("cpu")
        return two_at_once(on_cpu and not torch.is_grad_enabled() and not draws, step)

    def _with_boundaries(self, char_ids: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Puts each sentence between its boundaries: shape (batch, length + 2, 50)."""
        bounded = pad(char_ids, (0, 0, 1, 1))
        bounded[:, 0] = self._boundaries[0]
        rows = torch.arange(len(char_ids), device=char_ids.device)
        bounded[rows, lengths + 1] = self._boundaries[1]
        return bounded
