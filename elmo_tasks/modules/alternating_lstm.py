from itertools import pairwise

import torch
from allennlp.modules import Seq2SeqEncoder
from allennlp.modules.augmented_lstm import AugmentedLstm
from allennlp.modules.seq2seq_encoders import StackedAlternatingLstmSeq2SeqEncoder
from allennlp.nn.util import get_dropout_mask

from elmo_tasks.kernels.highway_steps import HighwaySteps
from elmo_tasks.kernels.packing import Packing, Steps, mirror_of
from elmo_tasks.kernels.trained_product import trained_product


@Seq2SeqEncoder.register("elmo_alternating_lstm")
class ElmoAlternatingLstm(StackedAlternatingLstmSeq2SeqEncoder):
    """
    The interleaved highway LSTMs of He et al. 2017, section 2.2, whose layers read a text forwards
    and backwards by turns. The outputs equal those of AllenNLP's `alternating_lstm`, and the
    weights have the same names and initialization. On a CPU, this class is about twice as fast. It
    skips padding. It multiplies the inputs of all steps at once, and computes the gradient of each
    weight for all steps at once.

    Registered as a `Seq2SeqEncoder` with name "elmo_alternating_lstm".

    # Parameters

    hidden_size: Width of each of the `num_layers` layers. The first reads forwards.
    recurrent_dropout_probability: Dropout on the recurrent state, with one mask for
        all steps of a text (Gal and Ghahramani 2016).
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int,
        recurrent_dropout_probability: float = 0.0,
    ) -> None:
        super().__init__(
            input_size,
            hidden_size,
            num_layers,
            recurrent_dropout_probability,
            use_input_projection_bias=False,
        )

    def forward(
        self, inputs: torch.Tensor, mask: torch.Tensor, hidden_state: None = None
    ) -> torch.Tensor:
        """
        Maps inputs of shape (batch, length, input_size) to (batch, length, hidden_size), zeros at
        padding. Padding must be at the end.
        """
        batch, length = mask.shape
        packing = Packing.of(mask.sum(dim=1), length)
        mirror = mirror_of(packing, batch * length)
        steps = Steps(packing.batch_sizes)
        layers = self._module.lstm_layers
        # Shape: (tokens, width), packed in the order in which the layer reads
        h = inputs.flatten(0, 1).index_select(0, packing.forward_index)
        for layer, after in pairwise([*layers, None]):
            h = _run_layer(layer, h, steps)
            if after is not None:
                h = h.index_select(0, mirror)
        index = packing.forward_index if len(layers) % 2 else packing.backward_index
        flat = h.new_zeros(batch * length, h.size(1)).index_copy(0, index, h)
        return flat.unflatten(0, (batch, length))


def _run_layer(layer: AugmentedLstm, x: torch.Tensor, steps: Steps) -> torch.Tensor:
    state = layer.cell.state_linearity
    gates = trained_product(x, layer.cell.input_linearity.weight).to(state.weight.dtype)
    mask = None
    if layer.training and layer.recurrent_dropout_probability > 0:
        # Shape: (rows, hidden_size)
        like = gates.new_empty(steps.num_rows, layer.lstm_dim)
        mask = get_dropout_mask(layer.recurrent_dropout_probability, like)
    # Half precision is too coarse for the states, because they add up over all steps.
    with torch.autocast(gates.device.type, enabled=False):
        return HighwaySteps.apply(gates, state.weight, state.bias, mask, steps)
