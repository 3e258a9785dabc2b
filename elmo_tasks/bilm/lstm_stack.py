import torch

from elmo_tasks.bilm.files.options import BiLmOptions
from elmo_tasks.bilm.projected_lstm import ProjectedLstm
from elmo_tasks.bilm.state import LstmState


class LstmStack(torch.nn.Module):
    """
    The LSTM layers of one direction of the biLM (Peters et al. 2018, section 3.1). With skip
    connections, each layer but the first adds its input, after dropout as in bilm-tf, to its
    output. The recurrent input of a layer is its output before this sum.
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

        inputs: Shape (tokens, projection_dim), packed in the order in which this direction reads.
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
