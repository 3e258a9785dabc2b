"""The arithmetic of AllenNLP's biLM, for a machine without AllenNLP."""

import torch
from torch.nn.functional import embedding, linear

from elmo_tasks.bilm import BiLm
from elmo_tasks.bilm.projected_lstm import ProjectedLstm


class PlainBiLm(torch.nn.Module):
    """
    Computes what `_ElmoBiLm` of AllenNLP 2.10.1 computes, by the operators that it calls: the
    character CNN runs over all 50 characters of every position, padding included, and each LSTM
    goes from step to step with two products for the gates and an operator for each gate.

    # Parameters

    bilm: Has the weights, which are shared.
    """

    def __init__(self, bilm: BiLm) -> None:
        super().__init__()
        self.bilm = bilm

    def forward(self, char_ids: torch.Tensor) -> torch.Tensor:
        """
        Returns the layers of char ids of shape (batch, length, 50): shape (batch, num_layers + 1,
        length, 2 * projection_dim).
        """
        mask = (char_ids > 0).any(dim=-1)
        lengths, order = mask.sum(dim=1).sort(descending=True)
        x = self._token_vectors(self.bilm._with_boundaries(char_ids[order], lengths))
        bounded = (lengths + 2).tolist()
        ahead = back = x
        layers = [torch.cat([x, x], dim=-1)]
        for j, (forward, backward) in enumerate(
            zip(self.bilm.forward_stack.layers, self.bilm.backward_stack.layers)
        ):
            ahead_before, back_before = ahead, back
            ahead = _read(forward, ahead, bounded, range(x.size(1)))
            back = _read(backward, back, bounded, reversed(range(x.size(1))))
            if j > 0:
                ahead, back = ahead + ahead_before, back + back_before
            layers.append(torch.cat([ahead, back], dim=-1))
        result = torch.stack(layers, dim=1)[order.argsort(), :, 1:-1]
        return result * mask[:, None, :, None]

    def _token_vectors(self, char_ids: torch.Tensor) -> torch.Tensor:
        """Computes x^LM of char ids of shape (batch, length, 50)."""
        cnn = self.bilm.char_cnn
        # Shape: (batch * length, char_dim, 50)
        characters = embedding(char_ids.flatten(0, 1), cnn.embedding).transpose(1, 2)
        filters = [
            cnn.activation(convolution(characters).max(dim=-1)[0])
            for convolution in cnn.convolutions
        ]
        x = torch.cat(filters, dim=-1)
        for layer in cnn.highways._layers:
            transform, gate = layer(x).chunk(2, dim=-1)
            gate = torch.sigmoid(gate)
            x = gate * x + (1 - gate) * torch.relu(transform)
        return cnn.projection(x).unflatten(0, char_ids.shape[:2])


def _read(lstm: ProjectedLstm, x: torch.Tensor, lengths: list[int], steps) -> torch.Tensor:
    """
    Runs an LSTM over x, shape (batch, length, projection_dim), longest row first, in the order of
    `steps`. Returns the outputs, in the shape of x, with zeros at padding.
    """
    outputs = torch.zeros_like(x)
    h, c = x.new_zeros(len(x), lstm.projection_dim), x.new_zeros(len(x), lstm.cell_dim)
    for step in steps:
        rows = sum(length > step for length in lengths)
        memory, fed = c[:rows].clone(), h[:rows].clone()
        from_input = linear(x[:rows, step], lstm.input_weight).chunk(4, dim=1)
        from_state = linear(fed, lstm.recurrent_weight, lstm.bias).chunk(4, dim=1)
        i, f, o = (torch.sigmoid(a + b) for a, b in zip(from_input[:3], from_state[:3]))
        g = torch.tanh(from_input[3] + from_state[3])
        memory = torch.clamp(i * g + f * memory, -lstm.cell_clip, lstm.cell_clip)
        output = linear(o * torch.tanh(memory), lstm.projection_weight)
        output = torch.clamp(output, -lstm.projection_clip, lstm.projection_clip)
        h, c = h.clone(), c.clone()
        h[:rows], c[:rows], outputs[:rows, step] = output, memory, output
    return outputs
