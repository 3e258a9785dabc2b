import math

import torch

from elmo_tasks.bilm.files.options import BiLmOptions
from elmo_tasks.bilm.state import LstmState
from elmo_tasks.kernels.recurrence import FrozenRecurrence, Recurrence


class ProjectedLstm(torch.nn.Module):
    """
    One direction of one layer of the biLM: an LSTM with a projection (Sak et al. 2014; Peters et
    al. 2018, section 3.2). At each step, the output is projected to a smaller width. The projected
    output is returned, and is the recurrent input of the next step. `cell_clip` and
    `projection_clip` bound the absolute values of the cell state and of the projected output.
    Without bounds, the layer equals `torch.nn.LSTM` with `proj_size`.

    The four gates are in the order input, forget, output, candidate, so that one call of sigmoid
    serves the first three.
    """

    def __init__(
        self,
        input_dim: int,
        cell_dim: int,
        projection_dim: int,
        cell_clip: float | None = None,
        projection_clip: float | None = None,
    ) -> None:
        super().__init__()
        self.cell_dim = cell_dim
        self.projection_dim = projection_dim
        self.cell_clip = cell_clip or math.inf
        self.projection_clip = projection_clip or math.inf
        self.input_weight = torch.nn.Parameter(torch.empty(4 * cell_dim, input_dim))
        self.recurrent_weight = torch.nn.Parameter(torch.empty(4 * cell_dim, projection_dim))
        self.bias = torch.nn.Parameter(torch.empty(4 * cell_dim))
        self.projection_weight = torch.nn.Parameter(torch.empty(projection_dim, cell_dim))
        self._frozen: FrozenRecurrence | None = None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """
        Draws the weights as TensorFlow's LSTM does, with the input weights and the recurrent
        weights as one matrix.
        """
        fans = sum(self.input_weight.shape) + self.projection_dim
        for weight in (self.input_weight, self.recurrent_weight):
            torch.nn.init.uniform_(weight, -math.sqrt(6 / fans), math.sqrt(6 / fans))
        torch.nn.init.xavier_uniform_(self.projection_weight)
        torch.nn.init.zeros_(self.bias)
        self.bias.data[self.cell_dim : 2 * self.cell_dim] = 1

    def freeze(self, dtype: torch.dtype | None = None) -> None:
        """
        Copies the weights into a layout for fast matrix products in `dtype` (by default the dtype
        of the weights). Until `thaw` is called, the weights must not change, and no gradient is
        computed.
        """
        self._frozen = FrozenRecurrence(*self._weights, dtype=dtype)

    def thaw(self) -> None:
        self._frozen = None

    def forward(
        self, inputs: torch.Tensor, batch_sizes: list[int], state: LstmState
    ) -> tuple[torch.Tensor, LstmState]:
        """
        Reads packed inputs of shape (tokens, input_dim). Returns the outputs, shape (tokens,
        projection_dim), and the state of every row after its last step. No gradient reaches
        `state`.
        """
        h, c = state.h.detach().clone(), state.c.detach().clone()
        clips = (self.cell_clip, self.projection_clip)
        if self._frozen is not None:
            outputs = self._frozen(inputs, batch_sizes, h, c, *clips)
        else:
            outputs = Recurrence.apply(inputs, *self._weights, h, c, batch_sizes, *clips)
        return outputs, LstmState(h, c)

    @property
    def _weights(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        return self.input_weight, self.recurrent_weight, self.bias, self.projection_weight


class LstmStack(torch.nn.Module):
    """
    The LSTM layers of one direction of the biLM (Peters et al. 2018, section 3.1). With skip
    connections, each layer but the first adds its input to its output. As in bilm-tf, dropout is
    applied to this input, for the layer and for the sum. The recurrent input of a layer is its
    output before the sum.
    """

    def __init__(self, options: BiLmOptions, dropout: float = 0.0) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList(
            ProjectedLstm(
                options.projection_dim,
                options.cell_dim,
                options.projection_dim,
                options.cell_clip,
                options.projection_clip,
            )
            for _ in range(options.num_layers)
        )
        self.skip_connections = options.skip_connections
        self.dropout = torch.nn.Dropout(dropout)

    def forward(
        self, inputs: torch.Tensor, batch_sizes: list[int], state: LstmState
    ) -> tuple[list[torch.Tensor], LstmState]:
        """
        # Parameters

        inputs: Shape (tokens, projection_dim), packed in the order in which the direction reads.
        state: Shapes (num_layers, rows, projection_dim) and (num_layers, rows, cell_dim).

        # Returns

        The output of each layer, and the state of each row after its last step.
        """
        outputs: list[torch.Tensor] = []
        after = []
        for j, layer in enumerate(self.layers):
            inputs = self.dropout(inputs)
            output, last = layer(inputs, batch_sizes, LstmState(state.h[j], state.c[j]))
            inputs = output + inputs if j > 0 and self.skip_connections else output
            outputs.append(inputs)
            after.append(last)
        h, c = (torch.stack(part) for part in zip(*after))
        return outputs, LstmState(h, c)
