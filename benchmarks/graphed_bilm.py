"""A biLM whose LSTMs are one CUDA graph."""

import torch

from elmo_tasks.bilm import BiLm
from elmo_tasks.bilm.bidirectional_lstm import read_direction
from elmo_tasks.kernels.packing import Packing


class GraphedBiLm:
    """
    Computes the layers of batches whose sentences have the lengths of a first batch. The LSTMs are
    one CUDA graph, so that the CPU starts them all by one call, and each direction has a stream of
    its own. On a CPU, the same functions run without a graph.

    # Parameters

    bilm: A biLM that is frozen.
    char_ids (`torch.LongTensor`): Shape (batch, length, 50): the first batch.
    """

    def __init__(self, bilm: BiLm, char_ids: torch.Tensor) -> None:
        self._bilm = bilm
        # Shape: (batch, length)
        self._mask = (char_ids > 0).any(dim=-1)
        self._lengths = self._mask.sum(dim=1)
        batch, width = len(char_ids), char_ids.size(1) + 2
        self._packing = Packing.of(self._lengths + 2, width)
        self._indices = (self._packing.forward_index, self._packing.backward_index)
        dim = bilm.options.projection_dim
        # What the graph reads and writes stays at its place in memory.
        self._inputs = [bilm.like.new_zeros(len(index), dim) for index in self._indices]
        self._start = bilm.state.before(batch, bilm.like)
        self._last = bilm.state.zeros(batch, bilm.like)
        self._layers = bilm.like.new_zeros(bilm.num_layers, batch * width, 2, dim)
        self._graph = self._captured() if bilm.like.is_cuda else None

    @torch.no_grad()
    def __call__(self, char_ids: torch.Tensor) -> torch.Tensor:
        """Returns the layers: shape (batch, num_layers, length, 2 * projection_dim)."""
        tokens = self._bilm.token_vectors(self._bilm._bounded(char_ids, self._lengths))
        for inputs, index in zip(self._inputs, self._indices):
            inputs.copy_(tokens.at(index))
        if self._graph is None:
            self._read()
        else:
            self._graph.replay()
        batch, length = self._mask.shape
        layers = self._layers.view(len(self._layers), batch, length + 2, -1)[:, :, 1:-1]
        return (layers * self._mask[None, :, :, None]).transpose(0, 1)

    def _captured(self) -> torch.cuda.CUDAGraph:
        # As PyTorch asks, all runs once on another stream before it is captured.
        warm_up = torch.cuda.Stream()
        warm_up.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(warm_up), torch.no_grad():
            self._read()
        torch.cuda.current_stream().wait_stream(warm_up)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph), torch.no_grad():
            self._read()
        return graph

    def _read(self) -> None:
        if not self._bilm.like.is_cuda:
            self._read_direction(0)
            self._read_direction(1)
            return
        here, other = torch.cuda.current_stream(), torch.cuda.Stream()
        other.wait_stream(here)
        self._read_direction(0)
        with torch.cuda.stream(other):
            self._read_direction(1)
        here.wait_stream(other)

    def _read_direction(self, direction: int) -> None:
        outputs = read_direction(
            self._bilm.stacks,
            direction,
            self._inputs[direction],
            self._packing,
            self._start,
            self._last,
        )
        for layer, output in zip(self._layers, outputs):
            layer[:, direction].index_copy_(0, self._indices[direction], output)
