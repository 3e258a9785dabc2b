import copy
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import torch
from tqdm import tqdm

from elmo_tasks.bilm import BiLm, FrozenBiLm
from elmo_tasks.bilm.frozen_bilm import Store
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.file_names import MIX_FILE
from elmo_tasks.elmo.locate import DEFAULT_BILM, Source
from elmo_tasks.elmo.mix import ElmoMix, write_mix
from elmo_tasks.elmo.opening import open_elmo
from elmo_tasks.elmo.sentence_layers import SentenceLayers
from elmo_tasks.elmo.sentences import (
    Sentence,
    Tokenizer,
    padded_sentences,
    sentences_of,
    tokens_of,
)
from elmo_tasks.kernels.threads import operator_threads

# Seconds before a progress bar appears.
_PATIENCE = 1


class ElmoEncoder:
    """
    Computes ELMo of text outside of training (Peters et al. 2018). A sentence's vectors do not
    depend on the other sentences.

        encoder = ElmoEncoder.from_pretrained("base")
        encoder(["The boat left the bank .", "Banks lend money ."])["elmo"]
        encoder([["The", "boat", "left"], ["Banks", "lend", ""]], lengths=[3, 2])
        for outputs in encoder.iterate(open("text.txt")): ...

    The outputs have the names and shapes of the ELMo module on TensorFlow Hub, for any number of
    layers. They are on the CPU and have no gradient:

    | name | shape | |
    | --- | --- | --- |
    | `word_emb` | (batch, length, projection_dim) | x^LM, which does not depend on context |
    | `lstm_outputs1`, `lstm_outputs2`, ... | (batch, length, 2 * projection_dim) | h_{k,1}, ... |
    | `elmo` | (batch, length, width) | ELMo_k, equation (1) |
    | `default` | (batch, width) | the mean of `elmo` over the tokens |
    | `mask` | (batch, length) | true at tokens |

    # Parameters

    bilm: The biLM, on any device. If the biLM trains or carries its state from batch to batch, the
        encoder uses a frozen copy (see `FrozenBiLm.of`).
    mix: Computes `elmo`. The default is the mean of all layers, with gamma 1. The encoder uses a
        copy of the mix without dropout, and with the layer norm `sentence` in place of `batch`.
    tokenizer: Cuts strings into tokens. An AllenNLP tokenizer works as well: `ElmoSpacyTokenizer()`
        has spaCy's rules. Tokens of white space alone are left out. By default strings must be
        tokenized text, and are cut at white space.
    batch_tokens: The maximum number of tokens per batch, padding included. A batch
        of at most 16 long sentences may have eight times as many.
    as_numpy: Whether outputs are NumPy arrays. By default they are tensors.
    """

    def __init__(
        self,
        bilm: BiLm,
        mix: ElmoMix | None = None,
        tokenizer: Tokenizer | None = None,
        batch_tokens: int = 2048,
        as_numpy: bool = False,
    ) -> None:
        self.layers = SentenceLayers(bilm, batch_tokens)
        new_mix = copy.deepcopy(mix) if mix else ElmoMix(bilm.num_layers)
        # NumPy has no bfloat16, so vectors have at least float32.
        self.mix = new_mix.to("cpu", torch.promote_types(new_mix.gamma.dtype, torch.float32)).eval()
        if self.mix.layer_norm is not None:
            self.mix.layer_norm = "sentence"
        self.tokenizer = tokenizer
        self.as_numpy = as_numpy

    @classmethod
    def from_pretrained(
        cls,
        name: Source = DEFAULT_BILM,
        place: str | None = None,
        store: Store | None = None,
        device: str | torch.device = "cpu",
        dtype: str | None = None,
        layers: str | int = "all",
        **settings,
    ) -> "ElmoEncoder":
        """
        Makes an encoder from anything that has a biLM.

        # Parameters

        name, store, device, dtype: As for `open_elmo`.
        place: `input` or `output`: the place of the mix, if a model has several mixes.
        layers: `all` for the trained mix, or for the mean of all layers if there
            is no trained mix; `concat` for all layers side by side; `last`; or the index of one
            layer, 0 for the token layer.
        settings: Arguments of the constructor.
        """
        model = open_elmo(name, store, device, dtype)
        if "mix" in settings:
            if place is not None:
                raise ConfigurationError("give either a mix or its place, not both")
        elif layers == "all":
            settings["mix"] = model.mix(place)
        else:
            settings["mix"] = ElmoMix(model.bilm.num_layers, layers)
        return cls(model.bilm, **settings)

    def save_pretrained(self, folder: str | os.PathLike, dtype: str = "float32") -> None:
        """
        Writes the biLM (`options.json`, `weights.hdf5`) and the mix (`mix.json`), but no tokenizer,
        to a folder, for `from_pretrained`. AllenNLP and bilm-tf can read the biLM's files too.
        Files of these names are replaced. The dtype `float16` rounds the weights.
        """
        self.bilm.to_files(folder, dtype)
        write_mix(Path(folder) / MIX_FILE, self.mix)

    @property
    def bilm(self) -> FrozenBiLm:
        return self.layers.bilm

    def __call__(
        self, sentences: Iterable[Sentence], lengths: Iterable[int] | None = None
    ) -> dict[str, Any]:
        """
        Returns the outputs of sentences, named as in the table above and padded to the longest
        sentence. All outputs are held in memory; for large texts use `iterate`.

        # Parameters

        sentences: Strings, or lists of tokens, which may be padded at their end with `""`. Each
            string is a sentence, also in a flat list of words; for one sentence of tokens, give
            `[tokens]`.
        lengths: The number of tokens in each sentence. All further tokens are padding.

        # Raises

        `ValueError`: `sentences` is not a list of sentences (see `sentences_of`), or `lengths` do
            not fit.
        """
        tokens, longest = padded_sentences(sentences, self.tokenizer, lengths)
        outputs = self._empty(len(tokens), longest)
        with _progress(sum(map(len, tokens))) as progress:
            for row, layers in enumerate(self.layers.of_tokens(tokens, progress)):
                for name, output in self._outputs(layers).items():
                    outputs[name][row, : len(output)] = output
        return self._convert(outputs)

    def iterate(self, sentences: Iterable[Sentence]) -> Iterator[dict[str, Any]]:
        """
        Encodes a stream of any length in bounded memory. Yields the outputs of each sentence, in
        order, named as in the table above. They have no batch dimension and no padding. Raises
        `ValueError` if `sentences` is not a stream of sentences.
        """
        return self._iterate(sentences_of(sentences, self.tokenizer))

    def _iterate(self, tokens: Iterator[list[str]]) -> Iterator[dict[str, Any]]:
        with _progress() as progress:
            for layers in self.layers.of_tokens(tokens, progress):
                yield self._convert(self._outputs(layers))

    def vectors(self, sentences: Iterable[Sentence]) -> Iterator[torch.Tensor]:
        """
        Yields only the output `elmo` of each sentence: shape (length, width). Raises `ValueError`
        if `sentences` is not a stream of sentences.
        """
        tokens = sentences_of(sentences, self.tokenizer)
        return map(self.mix.of_sentence, self.layers.of_tokens(tokens))

    def get_output_dim(self) -> int:
        """Returns the width of ELMo_k."""
        return self.mix.get_output_dim(self.bilm.get_output_dim())

    def tokenize(self, sentence: Sentence) -> list[str]:
        """Returns the tokens of a sentence, without padding."""
        return tokens_of(sentence, self.tokenizer)

    def _outputs(self, layers: torch.Tensor) -> dict[str, torch.Tensor]:
        mask = torch.ones(layers.size(1), dtype=torch.bool)
        with operator_threads(1):
            elmo = self.mix.of_sentence(layers)
        x, *contextual = layers.clone()
        outputs = {"word_emb": x.chunk(2, dim=1)[0]}
        outputs |= {f"lstm_outputs{j}": h for j, h in enumerate(contextual, start=1)}
        return {**outputs, "elmo": elmo, "default": elmo.sum(0) / max(1, len(elmo)), "mask": mask}

    def _empty(self, batch_size: int, length: int) -> dict[str, torch.Tensor]:
        """Returns the outputs of a batch that is all padding."""
        outputs = {
            name: output.new_zeros(batch_size, length, *output.shape[1:])
            for name, output in self._outputs(self.layers.no_layers()).items()
        }
        outputs["default"] = torch.zeros(batch_size, self.get_output_dim())
        return outputs

    def _convert(self, outputs: dict[str, torch.Tensor]) -> dict[str, Any]:
        if not self.as_numpy:
            return dict(outputs)
        return {name: output.numpy() for name, output in outputs.items()}


def _progress(num_tokens: int | None = None) -> tqdm:
    return tqdm(total=num_tokens, unit=" tokens", delay=_PATIENCE)
