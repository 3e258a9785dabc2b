from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, Union

import torch
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.models import Model
from allennlp.nn.util import dist_reduce_sum
from allennlp.training.metrics import Metric

from elmo_tasks.bilm import BiLm
from elmo_tasks.bilm.lexicon import UNKNOWN_WORD
from elmo_tasks.bilm.state import CarryState
from elmo_tasks.common.errors import ConfigurationError, check_choice
from elmo_tasks.common.fetch import local_path
from elmo_tasks.common.tensors import read_tensors
from elmo_tasks.common.unpacking import unpacked
from elmo_tasks.elmo.from_config import bilm_from_config, check_bilm
from elmo_tasks.kernels.frozen_product import DTYPES, used_dtype
from elmo_tasks.language_model.prediction import Prediction, predict
from elmo_tasks.language_model.sampled_softmax import SampledSoftmax
from elmo_tasks.language_model.softmax import Softmax
from elmo_tasks.language_model.unknown_tokens import UnknownTokens


@Model.register("elmo_language_model")
class ElmoLanguageModel(Model):
    """
    Pre-trains a biLM (Peters et al. 2018, sections 3.1 and 3.4). Each direction predicts the next
    word from the words that it has read; both directions share the character CNN and the softmax.
    The loss is the negative log-likelihood per word, averaged over the two directions. The end of a
    sentence counts as a word.

    The metrics are the perplexity of each direction and `perplexity`, the arithmetic mean of the
    two, as in the paper. During training, the sampled softmax gives these perplexities.
    `unknown_tokens` is the share of the tokens that are not in the vocabulary; above a fifth, a
    warning says so once, since a perplexity of unknown words says little.

    Registered as a `Model` with name "elmo_language_model".

    # Parameters

    bilm: The biLM to train, or its arguments, with `requires_grad: true`. Options without
        `char_cnn` make a biLM of words: it has a table of the words of the vocabulary, and no
        character CNN.
    num_samples: Number of words drawn for the softmax of a batch. By default the softmax is full.
    dropout: Dropout on the inputs of the softmax.
    dtype: The dtype of matrix products in training: `float32` (the default), `bfloat16`, or `auto`
        (see `used_dtype`). Weights, cell states and sums are always in float32.
    num_softmax_batches: Number of batches at the start in which only the softmax is trained. Use
        this to continue a biLM from `options.json` and `weights.hdf5`, which have no softmax.
    pretrained_file: The `model.tar.gz` of another training run. The weights start from this model,
        whose widths and vocabulary must be the same. The new archive does not need this file.
    serialization_dir: The folder of the training run or archive. AllenNLP passes it.
    """

    default_predictor = "elmo_language_model"

    def __init__(
        self,
        vocab: Vocabulary,
        bilm: Union[BiLm, str, dict[str, Any]],
        num_samples: int = None,
        dropout: float = 0.1,
        dtype: str = None,
        num_softmax_batches: int = 0,
        pretrained_file: str = None,
        serialization_dir: str = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(vocab, **kwargs)
        fields = _with_vocabulary(bilm, vocab)
        is_of_words = fields is not bilm
        bilm = bilm_from_config(fields, serialization_dir)
        if is_of_words:
            bilm.word_table.lexicon.set_words(_words(vocab))
        if not bilm.format.in_hdf5:
            raise ConfigurationError(f"a biLM of {bilm.format.name} cannot be trained further")
        if not bilm.trains:
            raise ConfigurationError("the bilm of a language model needs requires_grad: true")
        if dtype is not None:
            check_choice("dtype", dtype, DTYPES)
        self.bilm = bilm
        self.dropout = torch.nn.Dropout(dropout)
        self.softmax = SampledSoftmax(
            vocab.get_vocab_size("tokens"), bilm.options.projection_dim, num_samples
        )
        self.dtype = dtype or "float32"
        self.num_softmax_batches = num_softmax_batches
        self.register_buffer("num_batches", torch.zeros((), dtype=torch.long))
        # Callbacks may add to the loss of each batch, for example the error of word vectors.
        self.auxiliary_loss: Callable[[], torch.Tensor] | None = None
        self._perplexity = _Perplexity()
        self._unknown_tokens = UnknownTokens(vocab)
        if pretrained_file is not None:
            self._load_archive(pretrained_file)

    @staticmethod
    def check_fields(fields: Mapping[str, Any]) -> None:
        """Raises `ConfigurationError` if no language model can be made from a config's fields."""
        if fields.get("bilm") is not None:
            check_bilm(fields["bilm"])
        if fields.get("dtype") is not None:
            check_choice("dtype", fields["dtype"], DTYPES)

    def forward(  # type: ignore[override]
        self, tokens: TextFieldTensors, backward_tokens: TextFieldTensors = None
    ) -> dict[str, torch.Tensor]:
        """
        # Parameters

        tokens: Sentences with both boundaries, for both directions. With `backward_tokens`,
            `tokens` are windows of a running text, for the forward direction alone: the char ids of
            the tokens to read, and as `targets` the word ids of the tokens to predict.
        backward_tokens: Windows for the backward direction. Each sentence is reversed.

        # Returns

        `loss`, a scalar; `num_tokens`, the number of words predicted in each direction.
        """
        with self._precision():
            predictions = self._predict(
                tokens["elmo"]["elmo_tokens"],
                backward_tokens and backward_tokens["elmo"]["elmo_tokens"],
            )
            if backward_tokens is None:
                word_ids = 2 * [tokens["tokens"]["tokens"]]
            else:
                word_ids = [text["targets"]["tokens"] for text in (tokens, backward_tokens)]
            classes = [ids.flatten()[targets] for (_, targets), ids in zip(predictions, word_ids)]
            losses = [
                self.softmax(self.dropout(output), ids)
                for (output, _), ids in zip(predictions, classes)
            ]
            loss = sum(loss.mean() if len(loss) else loss.sum() for loss in losses) / 2
            if self.training and self.auxiliary_loss is not None:
                loss = loss + self.auxiliary_loss()
        self._perplexity(losses)
        self._unknown_tokens(classes)
        if self.training:
            self.num_batches += 1
        return {"loss": loss, "num_tokens": torch.tensor(len(losses[0]))}

    def get_metrics(self, reset: bool = False) -> dict[str, float]:
        share = self._unknown_tokens.get_metric(reset)
        return {**self._perplexity.get_metric(reset), "unknown_tokens": share}

    def train(self, mode: bool = True) -> "ElmoLanguageModel":
        # Every epoch of training or evaluation begins a text anew, so no state is carried over.
        if isinstance(self.bilm.state, CarryState):
            self.bilm.state.reset()
        return super().train(mode)

    def _predict(
        self, char_ids: torch.Tensor, backward_char_ids: torch.Tensor | None
    ) -> list[Prediction]:
        if not char_ids.numel():
            nothing = self.softmax.weight.new_zeros(0, self.softmax.weight.size(1))
            return 2 * [Prediction(nothing, char_ids.new_zeros(0))]
        train = not self._softmax_alone()
        return predict(self.bilm, char_ids, backward_char_ids, train)[0]

    def _precision(self) -> AbstractContextManager:
        device = self.softmax.weight.device
        if not self.training or used_dtype(self.dtype, device) == "float32":
            return nullcontext()
        return torch.autocast(device.type, torch.bfloat16)

    def _softmax_alone(self) -> bool:
        if not self.training or self.num_softmax_batches == 0:
            return False
        return int(self.num_batches) < self.num_softmax_batches

    def _load_archive(self, archive: str) -> None:
        with unpacked(local_path(archive)) as folder:
            vocab = Vocabulary.from_files(Path(folder) / "vocabulary")
            state = read_tensors(Path(folder) / "weights.th")
        words = self.vocab.get_index_to_token_vocabulary("tokens")
        if vocab.get_index_to_token_vocabulary("tokens") != words:
            raise ConfigurationError(
                f"{archive} has another vocabulary; to use it here, set "
                f'vocabulary: {{"type": "elmo_counted", "directory": "{archive}"}}'
            )
        try:
            self.load_state_dict({**state, "num_batches": self.num_batches})
        except RuntimeError as error:
            raise ConfigurationError(
                f"{archive} has another model than this config describes: "
                f"{' '.join(str(error).split())}"
            ) from error


class _Perplexity(Metric):
    """Computes perplexities from the negative log-likelihoods of each direction's words."""

    def __init__(self) -> None:
        self.reset()

    def __call__(self, losses: list[torch.Tensor]) -> None:  # type: ignore[override]
        for sums, loss in zip(self._sums, losses):
            sums += torch.tensor([loss.detach().sum().item(), len(loss)])

    def get_metric(self, reset: bool = False) -> dict[str, float]:
        """
        Returns perplexities over the words of this process, or with `reset` over the words of all
        processes.
        """
        sums = self._sums
        if reset:
            self.reset()
            sums = dist_reduce_sum(sums).cpu()
        forward, backward = torch.exp(sums[:, 0] / sums[:, 1].clamp(min=1)).tolist()
        return {
            "perplexity": (forward + backward) / 2,
            "forward_perplexity": forward,
            "backward_perplexity": backward,
        }

    def reset(self) -> None:
        # Shape: (2 directions, 2): the sum of the negative log-likelihoods, the number of words.
        self._sums = torch.zeros(2, 2, dtype=torch.float64)


def _with_vocabulary(bilm: Any, vocab: Vocabulary) -> Any:
    """Adds the number of words to the options of a new biLM of words."""
    options = bilm.get("options") if isinstance(bilm, Mapping) else None
    if not isinstance(options, Mapping) or options.keys() & {"char_cnn", "n_tokens_vocab"}:
        return bilm
    return {**bilm, "options": {**options, "n_tokens_vocab": len(_words(vocab))}}


def _words(vocab: Vocabulary) -> list[str]:
    """Returns the vocabulary of a biLM of words, in the order of the classes of the softmax."""
    _, unknown, *words = vocab.get_index_to_token_vocabulary("tokens").values()
    assert unknown == vocab._oov_token
    # AllenNLP reads the word `@@NEWLINE@@` of a vocabulary's file as a line end.
    return [UNKNOWN_WORD, *(word.replace("\n", "@@NEWLINE@@") for word in words)]


def softmax_of(model: ElmoLanguageModel) -> Softmax:
    """Returns the softmax of a trained model, for scoring."""
    # Word 0 is padding, for which the softmax has no class. AllenNLP reads the word `@@NEWLINE@@`
    # of a vocabulary's file as a line end, which no word of a text can be.
    words = model.vocab.get_index_to_token_vocabulary("tokens")
    return Softmax(
        [
            words[index].replace("\n", "@@NEWLINE@@")
            for index in range(1, model.softmax.num_classes + 1)
        ],
        model.softmax.weight.detach(),
        model.softmax.bias.detach().squeeze(1),
    )
