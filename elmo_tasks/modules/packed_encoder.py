import torch
from allennlp.modules import Seq2SeqEncoder

from elmo_tasks.kernels.packing import Packing
from elmo_tasks.kernels.steps import Steps, mirror_of
from elmo_tasks.kernels.trained_product import trained_product


class PackedEncoder(Seq2SeqEncoder):
    """
    A base class that speeds up AllenNLP's encoders of one bidirectional LSTM or GRU layer. A
    subclass inherits first from this class, then from AllenNLP's encoder. It skips padding, and
    computes the gradient of each weight by one product for all steps. On a GPU, AllenNLP's code
    with cuDNN is used.

    # Parameters

    input_size: Width of the input.
    hidden_size: Width of the state of one direction, half the width of the output.
    """

    # Computes the states of one direction from its input products, recurrent weight, bias and
    # `Steps`.
    recurrence: type[torch.autograd.Function]

    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__(input_size, hidden_size, bidirectional=True)  # type: ignore[call-arg]

    def forward(
        self, inputs: torch.Tensor, mask: torch.Tensor, hidden_state: None = None
    ) -> torch.Tensor:
        """
        # Parameters

        inputs: Shape (batch, length, input_size).
        mask (`torch.BoolTensor`): Shape (batch, length); padding is at the end.

        # Returns

        Shape (batch, length, 2 * hidden_size), zeros at padding.
        """
        if inputs.is_cuda:
            return super().forward(inputs, mask)
        batch, length = mask.shape
        packing = Packing.of(mask.sum(dim=1), length)
        # Shape: (tokens, input_size), packed in the order of the forward direction
        x = inputs.flatten(0, 1).index_select(0, packing.forward_index)
        mirror = mirror_of(packing, batch * length)
        both = []
        for suffix in ("", "_reverse"):
            input_weight, input_bias, weight, bias = (
                getattr(self._module, f"{name}_l0{suffix}")
                for name in ("weight_ih", "bias_ih", "weight_hh", "bias_hh")
            )
            gates = trained_product(x, input_weight, input_bias)
            if suffix:
                gates = gates.index_select(0, mirror)
            h = self.recurrence.apply(gates, weight, bias, Steps(packing.batch_sizes))
            both.append(h.index_select(0, mirror) if suffix else h)
        # Shape: (tokens, 2 * hidden_size)
        h = torch.cat(both, dim=-1)
        flat = h.new_zeros(batch * length, h.size(1)).index_copy(0, packing.forward_index, h)
        return flat.unflatten(0, (batch, length))
