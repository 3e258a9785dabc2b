import copy
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import torch
from tqdm import tqdm

from elmo_tasks.bilm import BiLm, FrozenBiLm, make_bilm
from elmo_tasks.bilm.files.known_bilms import DEFAULT_BILM, bilm_files
from elmo_tasks.bilm.files.options import BiLmOptions, read_options
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.elmo import ElmoMix
from elmo_tasks.elmo.archives import load_elmo
from elmo_tasks.elmo.known_models import is_model
from elmo_tasks.elmo.mix_file import read_mix, write_mix
from elmo_tasks.encoder.sentence_layers import SentenceLayers
from elmo_tasks.encoder.tokens import (
    Sentence,
    Tokenizer,
    cut_to_lengths,
    tokenize,
    without_padding,
)
from elmo_tasks.kernels.threads import operator_threads
from elmo_tasks.store import LayerStore

# The file of a trained mix, beside those of its biLM.
_MIX_FILE = "mix.json"

# Seconds before a progress bar appears.
_PATIENCE = 3


class ElmoEncoder:
    """
    Computes ELMo of text outside a training (Peters et al. 2018). A sentence's vectors do not
    depend on the other sentences.

        encoder = ElmoEncoder.from_pretrained("base")
        encoder(["The boat left the bank .", "Banks lend money ."])["elmo"]
        encoder([["The", "boat", "left"], ["Banks", "lend", ""]], lengths=[3, 2])
        for outputs in encoder.iterate(open("text.txt")): ...

    Outputs have the names and shapes of the outputs of the ELMo module on TensorFlow Hub, for any
    number of layers. They are on the CPU and have no gradient:

    | name | shape | |
    | --- | --- | --- |
    | `word_emb` | (batch, length, projection_dim) | x^LM, which does not depend on context |
    | `lstm_outputs1`, `lstm_outputs2`, ... | (batch, length, 2 * projection_dim) | h_{k,1}, ... |
    | `elmo` | (batch, length, 2 * projection_dim) | ELMo_k, equation (1) |
    | `default` | (batch, 2 * projection_dim) | the mean of `elmo` over the tokens |
    | `mask` | (batch, length) | true at tokens |

    # Parameters

    bilm : `BiLm`
        The biLM, on any device. If it trains or carries its state, a frozen copy is used (see
        `FrozenBiLm.of`).
    mix : `ElmoMix`, optional
        Computes `elmo`; by default the mean of all layers, with gamma 1. A copy of the mix is used,
        without dropout, and with the layer norm `sentence` instead of `batch`.
    tokenizer : `Callable[[str], list[str]]`, optional
        Cuts strings into tokens. An AllenNLP tokenizer works as well: `ElmoSpacyTokenizer()` has
        spaCy's rules. By default strings are cut at blanks, as tokenized text is.
    batch_tokens : `int`, optional (default = `2048`)
        The most tokens per batch, padding included, except for long sentences: up to 16 of them,
        with eight times as many tokens, are a batch.
    as_numpy : `bool`, optional (default = `False`)
        Whether outputs are NumPy arrays. By default they are tensors.
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
        self.has_own_mix = mix is not None
        self.mix = (copy.deepcopy(mix) if mix else ElmoMix(bilm.num_layers)).cpu().eval()
        if self.mix.layer_norm is not None:
            self.mix.layer_norm = "sentence"
        self.tokenizer = tokenizer
        self.as_numpy = as_numpy

    @classmethod
    def from_pretrained(
        cls,
        name: str | os.PathLike,
        place: str | None = None,
        store: LayerStore | None = None,
        device: str | torch.device = "cpu",
        dtype: str | None = None,
        **settings,
    ) -> "ElmoEncoder":
        """
        Makes an encoder of anything that has a biLM. The other parameters are as in `from_name`.

        # Parameters

        name : `str | os.PathLike`
            The name of a biLM; a folder that `save_pretrained`, `elmo-export` or the training of a
            biLM wrote; a repository of such files on the Hugging Face hub, `owner/name` or
            `owner/name@revision` (see `hub_folder`); or a model, as for `from_archive`.
        place : `str`, optional
            The place of the mix in a model, `input` or `output`; needed if the model has several.
        dtype : `str`, optional
            As in `from_name`; by default the setting of the model, or `float32` for a biLM.

        # Raises

        `ConfigurationError`
            There is no biLM or model of this name, or its files cannot be used.
        """
        if is_model(name):
            return cls.from_archive(name, place, None, store, device, dtype, **settings)
        if place is not None:
            raise ConfigurationError(f"{name} is a biLM without mixes: place must be left out")
        options_file, weight_file = bilm_files(name)
        mix_file = Path(options_file).with_name(_MIX_FILE)
        if "mix" not in settings and mix_file.exists():
            num_layers = BiLmOptions.from_dict(read_options(options_file)).num_layers + 1
            settings["mix"] = read_mix(mix_file, num_layers)
        return cls.from_files(
            options_file, weight_file, store, device, dtype or "float32", **settings
        )

    def save_pretrained(self, folder: str | os.PathLike, dtype: str = "float32") -> None:
        """
        Writes the biLM and the mix to a folder, for `from_pretrained`: `options.json` and
        `weights.hdf5`, which AllenNLP and bilm-tf read as well, and `mix.json`. The tokenizer is
        not saved.

        # Parameters

        folder : `str | os.PathLike`
            The folder, which is made if it is not there. Files of these names are replaced.
        dtype : `str`, optional (default = `'float32'`)
            The dtype of the weights in the file: `float32`, or `float16`, which rounds them.
        """
        self.bilm.to_files(folder, dtype)
        write_mix(Path(folder) / _MIX_FILE, self.mix)

    @classmethod
    def from_name(
        cls,
        name: str = DEFAULT_BILM,
        store: LayerStore | None = None,
        device: str | torch.device = "cpu",
        dtype: str = "float32",
        **settings,
    ) -> "ElmoEncoder":
        """
        Makes an encoder of a biLM that has a name: `base` or `mini`, which are part of the package,
        or `small`, `medium`, `original` or `original-5.5B`, which are fetched on first use.

        # Parameters

        store : `LayerStore`, optional
            Remembers layers, which are then rounded to the `dtype` of the store.
        device : `str | torch.device`, optional (default = `'cpu'`)
            The device that the biLM runs on.
        dtype : `str`, optional (default = `'float32'`)
            The dtype of the matrix products: `float32`, `bfloat16` or `auto` (see `FrozenBiLm`).
        settings
            Arguments of the constructor.
        """
        return cls.from_files(*bilm_files(name), store, device, dtype, **settings)

    @classmethod
    def from_files(
        cls,
        options_file: str | os.PathLike,
        weight_file: str | os.PathLike,
        store: LayerStore | None = None,
        device: str | torch.device = "cpu",
        dtype: str = "float32",
        **settings,
    ) -> "ElmoEncoder":
        """
        Makes an encoder of a biLM in two files in bilm-tf's format, given by their paths or
        addresses. The other parameters are as in `from_name`.
        """
        bilm = make_bilm(read_options(options_file), str(weight_file), dtype=dtype, store=store)
        return cls(bilm.to(device).eval(), **settings)

    @classmethod
    def from_archive(
        cls,
        archive_file: str | os.PathLike,
        place: str | None = None,
        name: str | None = None,
        store: LayerStore | None = None,
        device: str | torch.device = "cpu",
        dtype: str | None = None,
        mix: ElmoMix | None = None,
        **settings,
    ) -> "ElmoEncoder":
        """
        Makes an encoder of the biLM and a trained mix in the archive of a model. This method needs
        AllenNLP. The other parameters are as in `from_name`.

        # Parameters

        archive_file : `str | os.PathLike`
            A trained model: the path or address of a `model.tar.gz`, a folder, or a name (see
            `model_path`).
        place : `str`, optional
            The place of the mix, `input` or `output`; needed if the model has several.
        name : `str`, optional
            The name of the biLM in the model; needed if the model has several.
        dtype : `str`, optional
            As in `from_name`, by default the setting of the archive.
        mix : `ElmoMix`, optional
            A mix that is used instead of the model's; then `place` must be left out.
        """
        if mix is not None and place is not None:
            raise ConfigurationError("give either a mix or the place of one, not both")
        bilm, mixes = load_elmo(archive_file, name)
        if mix is None:
            if place not in mixes and (place is not None or len(mixes) > 1):
                raise ConfigurationError(
                    f"{archive_file} has mixes at the places {', '.join(mixes) or '(none)'}: place "
                    f"must be one of them, not {place!r}"
                )
            mix = mixes[place] if place else next(iter(mixes.values()), None)
        return cls(FrozenBiLm.of(bilm.to(device), store, dtype), mix, **settings)

    @property
    def bilm(self) -> FrozenBiLm:
        """The frozen biLM."""
        return self.layers.bilm

    def __call__(
        self, sentences: Iterable[Sentence], lengths: Iterable[int] | None = None
    ) -> dict[str, Any]:
        """
        Encodes sentences together; the outputs are padded to the longest. All outputs are held in
        memory; for large texts use `iterate`.

        # Parameters

        sentences : `Iterable[str] | Iterable[Sequence[str]]`
            Strings, or lists of tokens, which may be padded at their end with `""`.
        lengths : `Iterable[int]`, optional
            The number of tokens in each sentence; everything after that is padding.

        # Returns

        `dict[str, torch.Tensor | numpy.ndarray]`
            The outputs, by the names in the table above.
        """
        padded = [self.tokenize(sentence) for sentence in _several(sentences)]
        if lengths is None:
            tokens = [without_padding(words) for words in padded]
        else:
            tokens = cut_to_lengths(padded, [int(length) for length in lengths])
        outputs = self._empty(len(tokens), max(map(len, padded), default=0))
        with _progress(sum(map(len, tokens))) as progress:
            for row, layers in enumerate(self.layers(tokens, progress)):
                for name, output in self._outputs(layers).items():
                    outputs[name][row, : len(output)] = output
        return self._converted(outputs)

    def iterate(self, sentences: Iterable[Sentence]) -> Iterator[dict[str, Any]]:
        """
        Encodes a stream of any length in bounded memory. Yields the outputs of each sentence, in
        order, by the names in the table above, without the batch dimension and without padding.
        """
        tokens = (without_padding(self.tokenize(sentence)) for sentence in _several(sentences))
        with _progress() as progress:
            for layers in self.layers(tokens, progress):
                yield self._converted(self._outputs(layers))

    def tokenize(self, sentence: Sentence) -> list[str]:
        """Returns the tokens of a sentence, padding included."""
        return tokenize(sentence, self.tokenizer)

    def _outputs(self, layers: torch.Tensor) -> dict[str, torch.Tensor]:
        """Returns the outputs of a sentence, by name, from its layers."""
        # Shape: (length,)
        mask = torch.ones(layers.size(1), dtype=torch.bool)
        with torch.no_grad(), operator_threads(1):
            elmo = self.mix(layers[None], mask[None])[0]
        x, *contextual = layers.clone()
        outputs = {"word_emb": x.chunk(2, dim=1)[0]}
        outputs |= {f"lstm_outputs{j}": h for j, h in enumerate(contextual, start=1)}
        return {**outputs, "elmo": elmo, "default": elmo.sum(0) / max(1, len(elmo)), "mask": mask}

    def _empty(self, batch_size: int, length: int) -> dict[str, torch.Tensor]:
        """Returns the outputs of a batch that has only padding."""
        outputs = {
            name: output.new_zeros(batch_size, length, *output.shape[1:])
            for name, output in self._outputs(self.layers.no_layers()).items()
        }
        outputs["default"] = torch.zeros(batch_size, self.bilm.get_output_dim())
        return outputs

    def _converted(self, outputs: dict[str, torch.Tensor]) -> dict[str, Any]:
        if not self.as_numpy:
            return dict(outputs)
        return {name: output.numpy() for name, output in outputs.items()}


def _progress(num_tokens: int | None = None) -> tqdm:
    return tqdm(total=num_tokens, unit=" tokens", delay=_PATIENCE)


def _several(sentences: Iterable[Sentence]) -> Iterable[Sentence]:
    if isinstance(sentences, str):
        raise ValueError(f"expected a list of sentences, not one string: {sentences!r:.80}")
    return sentences
