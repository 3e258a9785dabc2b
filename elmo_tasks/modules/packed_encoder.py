import torch
from allennlp.modules import Seq2SeqEncoder

from elmo_tasks.kernels.steps import run_both_directions


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

    # Computes the states of one direction (see `run_both_directions`).
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
        return run_both_directions(self._module, self.recurrence, inputs, mask)
