import logging
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import torch
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.models import Model
from allennlp.models.archival import extracted_archive, get_weights_path
from allennlp.nn.util import dist_reduce_sum, read_state_dict

from elmo_tasks.bilm import BiLm
from elmo_tasks.bilm.state import CarryState
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.fetch import local_path
from elmo_tasks.language_model.sampled_softmax import SampledSoftmax

logger = logging.getLogger(__name__)

DIRECTIONS = ("forward", "backward")


@Model.register("elmo_language_model")
class ElmoLanguageModel(Model):
    """
    Pre-trains a biLM (Peters et al. 2018, sections 3.1 and 3.4): in each direction the next word
    from those before, the two directions sharing the character CNN and the softmax. The loss is
    the mean of the two directions' negative log-likelihoods per word, ends of sentences included.

    Metrics are the perplexity of each direction and their arithmetic mean, as the paper's; while
    it trains with a sampled softmax, those of that softmax.

    Registered as a `Model` with name "elmo_language_model".

    # Parameters

    bilm : `BiLm`
        With `requires_grad`, and the dropout on the inputs of its LSTMs.
    num_samples : `int`, optional
        Words drawn for the sampled softmax of a batch; by default the softmax is full.
    dropout : `float`, optional (default = `0.1`)
        On what the softmax classifies.
    dtype : `str`, optional
        `bfloat16` for products in that precision while training; weights, memory and sums stay in
        float32.
    num_softmax_batches : `int`, optional (default = `0`)
        Batches at the start in which the softmax alone is trained: for a biLM from a pair of
        files, which has none.
    pretrained_file : `str`, optional
        The `model.tar.gz` of another training of the same widths and vocabulary to go on from. The
        new archive does not need it.
    """

    default_predictor = "elmo_language_model"

    def __init__(
        self,
        vocab: Vocabulary,
        bilm: BiLm,
        num_samples: int = None,
        dropout: float = 0.1,
        dtype: str = None,
        num_softmax_batches: int = 0,
        pretrained_file: str = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(vocab, **kwargs)
        if not bilm.trains:
            raise ConfigurationError("the bilm of a language model needs requires_grad: true")
        if dtype not in (None, "float32", "bfloat16"):
            raise ConfigurationError(f"dtype must be float32 or bfloat16, not {dtype!r}")
        self.bilm = bilm
        self.dropout = torch.nn.Dropout(dropout)
        self.softmax = SampledSoftmax(
            vocab.get_vocab_size("tokens"), bilm.options.projection_dim, num_samples
        )
        self.half_precision = dtype == "bfloat16"
        self.num_softmax_batches = num_softmax_batches
        self.register_buffer("num_batches", torch.zeros((), dtype=torch.long))
        # Of each direction: sum of the negative log-likelihoods, number of words.
        self._sums = torch.zeros(2, 2, dtype=torch.float64)
        if pretrained_file is not None:
            self._load_archive(pretrained_file)

    def forward(  # type: ignore[override]
        self, tokens: TextFieldTensors, backward_tokens: TextFieldTensors = None
    ) -> dict[str, torch.Tensor]:
        """
        # Parameters

        tokens : `TextFieldTensors`
            Sentences with both boundaries; or, where `backward_tokens` is given, windows of a
            running text, each with the first token of the next.
        backward_tokens : `TextFieldTensors`, optional
            Windows of a running text that is read from its end.

        # Returns

        `dict[str, torch.Tensor]`
            `loss`, and `num_tokens`, the words predicted in each direction.
        """
        with self._precision():
            predictions = self.bilm.predict(
                tokens["elmo"]["elmo_tokens"],
                backward_tokens and backward_tokens["elmo"]["elmo_tokens"],
                train=not self._softmax_alone(),
            )
            word_ids = [tokens["tokens"]["tokens"], (backward_tokens or tokens)["tokens"]["tokens"]]
            losses = [
                self.softmax(self.dropout(output), ids.flatten()[following])
                for (output, following), ids in zip(predictions, word_ids)
            ]
        for sums, loss in zip(self._sums, losses):
            sums += torch.tensor([loss.detach().sum().item(), len(loss)])
        if self.training:
            self.num_batches += 1
        return {
            "loss": sum(loss.mean() for loss in losses) / 2,
            "num_tokens": torch.tensor(len(losses[0])),
        }

    def get_metrics(self, reset: bool = False) -> dict[str, float]:
        sums = self._sums
        if reset:
            self._sums = torch.zeros_like(sums)
            sums = dist_reduce_sum(sums).cpu()
        perplexities = torch.exp(sums[:, 0] / sums[:, 1].clamp(min=1)).tolist()
        metrics = {f"{name}_perplexity": value for name, value in zip(DIRECTIONS, perplexities)}
        return {"perplexity": sum(perplexities) / 2, **metrics}

    def contexts(self, tokens: TextFieldTensors) -> list[torch.Tensor]:
        """
        What each direction knows of every word of a sentence from those on its one side: what
        `softmax` predicts it from. A sentence is read from zeros, whatever was read before.

        # Parameters

        tokens : `TextFieldTensors`
            Sentences with both boundaries.

        # Returns

        `list[torch.Tensor]`
            Of each direction, shape (batch, length, projection_dim); zeros at padding and at the
            boundary where the direction begins.
        """
        if isinstance(self.bilm.state, CarryState):
            self.bilm.state.reset()
        char_ids = tokens["elmo"]["elmo_tokens"]
        contexts = []
        for output, following in self.bilm.predict(char_ids):
            flat = output.new_zeros(char_ids[..., 0].numel(), output.size(1))
            flat[following] = output
            contexts.append(flat.view(*char_ids.shape[:2], -1))
        return contexts

    def train(self, mode: bool = True) -> "ElmoLanguageModel":
        # Training and evaluation have a text each, and so has every epoch: nothing is carried over.
        if isinstance(self.bilm.state, CarryState):
            self.bilm.state.reset()
        return super().train(mode)

    def _precision(self) -> AbstractContextManager:
        if not (self.half_precision and self.training):
            return nullcontext()
        return torch.autocast(self.softmax.weight.device.type, torch.bfloat16)

    def _softmax_alone(self) -> bool:
        if not self.training or self.num_softmax_batches == 0:
            return False
        num_batches = int(self.num_batches)
        if num_batches == 0:
            logger.info(
                "The softmax is new: for %d batches it is trained alone, the biLM being frozen.",
                self.num_softmax_batches,
            )
        if num_batches == self.num_softmax_batches:
            logger.info("After %d batches of the softmax alone, the biLM trains too.", num_batches)
        return num_batches < self.num_softmax_batches

    def _load_archive(self, archive: str) -> None:
        """Takes over the biLM and the softmax of another training, whose vocabulary is ours."""
        with extracted_archive(local_path(archive)) as folder:
            vocab = Vocabulary.from_files(Path(folder) / "vocabulary")
            state = read_state_dict(get_weights_path(folder))
        words = self.vocab.get_index_to_token_vocabulary("tokens")
        if vocab.get_index_to_token_vocabulary("tokens") != words:
            raise ConfigurationError(
                f"{archive} has another vocabulary; give this training the same with "
                f'vocabulary: {{"type": "elmo_counted", "directory": "{archive}"}}'
            )
        state = {key: value for key, value in state.items() if not key.endswith("num_batches")}
        wrong = [
            f"{key} {tuple(state[key].shape)} for {tuple(tensor.shape)}"
            for key, tensor in self.state_dict().items()
            if key in state and state[key].shape != tensor.shape
        ]
        missing = self.state_dict().keys() - state.keys() - {"num_batches"}
        if wrong or missing:
            raise ConfigurationError(
                f"{archive} holds a biLM of another shape: {', '.join(wrong or sorted(missing))}"
            )
        self.load_state_dict(state, strict=False)
