from collections.abc import Iterable
from typing import Any, Union

import torch
from torch.nn.functional import pad

from elmo_tasks.bilm import BiLm, make_bilm
from elmo_tasks.common.characters import batch_char_ids
from elmo_tasks.common.errors import check_positive
from elmo_tasks.elmo.locate import Source, locate_bilm
from elmo_tasks.elmo.mix import ElmoMix
from elmo_tasks.elmo.sentences import Sentence, padded_sentences


class Elmo(torch.nn.Module):
    """
    Adds ELMo to a PyTorch network (Peters et al. 2018, section 3.3): a biLM, and a mix of its
    layers for each place where ELMo joins the network. The mixes train with the network.

        elmo = Elmo.from_pretrained("base")
        vectors, mask = elmo([["The", "boat", "left"], ["Banks", "lend"]])

    # Parameters

    bilm: The biLM. It is frozen, unless it was made with `requires_grad=True`.
    num_mixes: The number of mixes.
    keep_sentence_boundaries: Whether the two boundaries of each sentence have
        vectors too, as in AllenNLP's `Elmo`. A store of the biLM is then not used.
    mix: Arguments of each `ElmoMix`. One that it refuses raises `ConfigurationError`.
    """

    def __init__(
        self, bilm: BiLm, num_mixes: int = 1, keep_sentence_boundaries: bool = False, **mix: Any
    ) -> None:
        super().__init__()
        check_positive("num_mixes", num_mixes)
        self.bilm = bilm
        self.keep_sentence_boundaries = keep_sentence_boundaries
        self.mixes = torch.nn.ModuleList(ElmoMix(bilm.num_layers, **mix) for _ in range(num_mixes))

    @classmethod
    def from_pretrained(
        cls, name: Source, num_mixes: int = 1, requires_grad: bool = False, **mix: Any
    ) -> "Elmo":
        """
        Makes the module from a pre-trained biLM and new mixes.

        # Parameters

        name: The name of a biLM, a folder with its files, a hub repository (see `locate_bilm`), or
            a pair: the paths or addresses of options and weights in bilm-tf's format.
        requires_grad: Whether the biLM is trained too.
        num_mixes, mix: As for the constructor. `mix` may also have `keep_sentence_boundaries`.

        # Raises

        `ConfigurationError`: There is no such biLM, or an argument cannot be used.
        """
        located = locate_bilm(name)
        with located.with_name_in_errors():
            bilm = make_bilm(*located.files, requires_grad=requires_grad)
        return cls(bilm, num_mixes, **mix)

    def get_output_dim(self) -> int:
        """Returns the width of ELMo_k."""
        return self.mixes[0].get_output_dim(self.bilm.get_output_dim())

    def forward(
        self,
        sentences: Union[Iterable[Sentence], torch.Tensor],
        lengths: Iterable[int] | None = None,
    ) -> tuple[torch.Tensor, ...]:
        """
        # Parameters

        sentences (`Iterable[Sentence] | torch.LongTensor`): A list of sentences, or char ids of
            shape (batch, length, 50) with zeros at padding. A sentence is a list of tokens, which
            may be padded at its end with `""`, or a string, which is cut at white space. So each
            word of a flat list of words is a sentence of its own.
        lengths: The number of tokens in each sentence; all further tokens are padding. Char ids
            take no lengths.

        # Returns

        For each mix a tensor ELMo_k, shape (batch, length, width of ELMo_k), with zeros at padding;
        then the mask, shape (batch, length), true at tokens. All tensors are on the biLM's device.
        With `keep_sentence_boundaries`, the length is greater by 2: each sentence that has tokens
        begins and ends with a boundary.

        # Raises

        `ValueError`: `sentences` is not a list of sentences (see `sentences_of`), or `lengths` do
            not fit.
        """
        if not isinstance(sentences, torch.Tensor):
            sentences = self._char_ids(sentences, lengths)
        elif lengths is not None:
            raise ValueError("lengths are for lists of tokens: leave them out with char ids")
        layers, mask = self.bilm(sentences, self.keep_sentence_boundaries)
        return *(mix(layers, mask) for mix in self.mixes), mask

    def _char_ids(
        self, sentences: Iterable[Sentence], lengths: Iterable[int] | None
    ) -> torch.Tensor:
        tokens, longest = padded_sentences(sentences, lengths=lengths)
        char_ids = batch_char_ids(tokens, self.bilm.options.max_characters)
        num_padding = longest - char_ids.size(1)
        return pad(char_ids, (0, 0, 0, num_padding)).to(self.bilm.like.device)
