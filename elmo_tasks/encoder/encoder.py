import copy
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Union

import torch
from allennlp.common import Tqdm
from allennlp.data import Tokenizer, Vocabulary
from tqdm import tqdm

from elmo_tasks.bilm import BiLm
from elmo_tasks.bilm.files.options import read_options
from elmo_tasks.bilm.files.weights import KNOWN_BILMS
from elmo_tasks.common.batches import batches_by_length
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.elmo import ElmoMix
from elmo_tasks.elmo.archives import load_elmo
from elmo_tasks.readers.char_id_table import CharIdTable
from elmo_tasks.store.layer_store import LayerStore

# A text to be cut into tokens, or its tokens.
Sentence = Union[str, Sequence[str]]

# Tokens whose sentences are sorted by length, and whose layers are in memory, at a time: at the
# original size 200 MB.
WINDOW_TOKENS = 16384

# Seconds after which progress is shown.
_PATIENCE = 3


class ElmoEncoder:
    """
    ELMo of text (Peters et al. 2018), for use by hand: what a sentence comes out as depends on
    nothing else that is encoded.

        encoder = ElmoEncoder.from_name("mini")
        encoder(["The boat left the bank .", "Banks lend money ."])["elmo"]
        encoder([["The", "boat", "left"], ["Banks", "lend", ""]], lengths=[3, 2])
        for outputs in encoder.iterate(open("text.txt")): ...

    Outputs have the names and shapes of the ELMo module on TensorFlow Hub, for any number of
    layers; they are on the CPU and have no gradient:

    | name | shape | |
    | --- | --- | --- |
    | `word_emb` | (batch, length, projection_dim) | x^LM, which needs no context |
    | `lstm_outputs1`, `lstm_outputs2`, ... | (batch, length, 2 * projection_dim) | h_{k,1}, ... |
    | `elmo` | (batch, length, 2 * projection_dim) | ELMo_k, equation (1) |
    | `default` | (batch, 2 * projection_dim) | the mean of `elmo` over the tokens |
    | `mask` | (batch, length) | true where there is a token |

    # Parameters

    bilm : `BiLm`
        On any device. In the place of one that trains, or whose state is `carry`, a frozen copy is
        used (see `BiLm.frozen`).
    mix : `ElmoMix`, optional
        Of `elmo`; by default the mean of all layers with gamma 1. A copy without dropout is used,
        which has the layer norm `sentence` where it was `batch`.
    tokenizer : `Tokenizer`, optional
        Cuts strings into tokens: `ElmoSpacyTokenizer()` for spaCy's rules. By default they are cut
        at blanks, as tokenized text is.
    batch_tokens : `int`, optional (default = `2048`)
        Tokens of a batch at most, padding included; a longer sentence is a batch of its own.
    as_numpy : `bool`, optional (default = `False`)
        Whether outputs are NumPy's arrays instead of tensors.
    """

    def __init__(
        self,
        bilm: BiLm,
        mix: ElmoMix | None = None,
        tokenizer: Tokenizer | None = None,
        batch_tokens: int = 2048,
        as_numpy: bool = False,
    ) -> None:
        if batch_tokens < 1:
            raise ConfigurationError(f"batch_tokens must be at least 1, not {batch_tokens}")
        varies = bilm.trains or bilm.training or bilm.state_name == "carry"
        self.bilm = bilm.frozen(bilm.store) if varies else bilm
        self.mix = (copy.deepcopy(mix) if mix else ElmoMix(bilm.num_layers)).cpu().eval()
        if self.mix.layer_norm is not None:
            self.mix.layer_norm = "sentence"
        self.tokenizer = tokenizer
        self.batch_tokens = batch_tokens
        self.as_numpy = as_numpy
        self._table = CharIdTable(Vocabulary())

    @classmethod
    def from_name(
        cls,
        name: str = "mini",
        store: LayerStore | None = None,
        device: str | torch.device = "cpu",
        **settings,
    ) -> "ElmoEncoder":
        """
        Of a biLM known by name: `mini`, which comes with the package, or `small`, `medium`,
        `original` and `original-5.5B`, which are fetched on first use.

        # Parameters

        store : `LayerStore`, optional
            Remembers layers; they are then rounded to its `dtype`.
        device : `str | torch.device`, optional (default = `'cpu'`)
            Where the biLM runs.
        settings
            Those of the constructor.
        """
        if name not in KNOWN_BILMS:
            raise ConfigurationError(
                f"no biLM is known as {name!r}; known are {', '.join(sorted(KNOWN_BILMS))}"
            )
        weights = KNOWN_BILMS[name]
        # The two files of a biLM lie side by side.
        options = weights.removesuffix("weights.hdf5") + "options.json"
        return cls.from_files(options, weights, store, device, **settings)

    @classmethod
    def from_files(
        cls,
        options_file: str | os.PathLike,
        weight_file: str | os.PathLike,
        store: LayerStore | None = None,
        device: str | torch.device = "cpu",
        **settings,
    ) -> "ElmoEncoder":
        """Of the two files of bilm-tf's layout, by path or address; otherwise as `from_name`."""
        bilm = BiLm(read_options(options_file), str(weight_file), store=store).to(device)
        return cls(bilm.eval(), **settings)

    @classmethod
    def from_archive(
        cls,
        archive_file: str | os.PathLike,
        place: str | None = None,
        name: str | None = None,
        store: LayerStore | None = None,
        device: str | torch.device = "cpu",
        **settings,
    ) -> "ElmoEncoder":
        """
        Of the biLM and a trained mix in the archive of a model; otherwise as `from_name`.

        # Parameters

        archive_file : `str | os.PathLike`
            A `model.tar.gz`, by path or address, or the folder of a training.
        place : `str`, optional
            Whose mix, where the model has several: `input` or `output`.
        name : `str`, optional
            Of the biLM, where the model has several.
        """
        bilm, mixes = load_elmo(archive_file, name)
        if place not in mixes and (place is not None or len(mixes) > 1):
            raise ConfigurationError(
                f"{archive_file} has mixes at the places {', '.join(mixes) or '(none)'}: place "
                f"must be one of them, not {place!r}"
            )
        mix = mixes[place] if place else next(iter(mixes.values()), None)
        return cls(bilm.to(device).frozen(store), mix, **settings)

    def __call__(
        self, sentences: Iterable[Sentence], lengths: Iterable[int] | None = None
    ) -> dict[str, Any]:
        """
        Encodes sentences together: the outputs are padded to the longest. Beside these, memory is
        bounded; for more sentences than that, or longer ones, see `iterate`.

        # Parameters

        sentences : `Iterable[str] | Iterable[Sequence[str]]`
            Strings, or lists of tokens, which may be padded at their end with `""`.
        lengths : `Iterable[int]`, optional
            Tokens of each sentence, what follows being padding whatever it is.

        # Returns

        `dict[str, torch.Tensor | numpy.ndarray]`
            By the names above.
        """
        padded = [self.tokenize(sentence) for sentence in _several(sentences)]
        if lengths is None:
            tokens = [_without_padding(words) for words in padded]
        else:
            tokens = _cut(padded, [int(length) for length in lengths])
        outputs = self._empty(len(tokens), max(map(len, padded), default=0))
        num_tokens = sum(map(len, tokens))
        with _progress(num_tokens) as progress:
            for row, layers in enumerate(self.layers(tokens, progress)):
                for name, output in self._outputs(layers).items():
                    outputs[name][row, : len(output)] = output
        return self._converted(outputs)

    def iterate(self, sentences: Iterable[Sentence]) -> Iterator[dict[str, Any]]:
        """
        Encodes a stream of any length in bounded memory, and gives of each sentence, in their
        order, the outputs by the names above, without the dimension of the batch and without
        padding.
        """
        tokens = (_without_padding(self.tokenize(sentence)) for sentence in _several(sentences))
        with _progress() as progress:
            for layers in self.layers(tokens, progress):
                yield self._converted(self._outputs(layers))

    def layers(
        self, sentences: Iterable[list[str]], progress: tqdm | None = None
    ) -> Iterator[torch.Tensor]:
        """
        Of each sentence of a stream, given as its tokens, the layers as the biLM has them: shape
        (num_layers, length, 2 * projection_dim), with x^LM twice as layer 0. They may share their
        memory with those of other sentences. `progress` is told of tokens.
        """
        for window in windows(sentences):
            layers = [torch.zeros(self.bilm.num_layers, 0, self.bilm.get_output_dim())] * len(
                window
            )
            for numbers in batches_by_length(list(map(len, window)), self.batch_tokens):
                tensors = self._table.tensors([window[number] for number in numbers])
                char_ids = tensors["elmo"]["elmo_tokens"].to(self.bilm.char_cnn.embedding.device)
                for number, row in zip(numbers, self.bilm(char_ids).layers.cpu()):
                    layers[number] = row[:, : len(window[number])]
                if progress is not None:
                    progress.update(sum(len(window[number]) for number in numbers))
            yield from layers

    def tokenize(self, sentence: Sentence) -> list[str]:
        """The tokens that a sentence is taken as, padding included."""
        if isinstance(sentence, str):
            if self.tokenizer is None:
                return sentence.split()
            return [token.ensure_text() for token in self.tokenizer.tokenize(sentence)]
        tokens = list(sentence) if isinstance(sentence, Iterable) else [sentence]
        if not all(isinstance(token, str) for token in tokens):
            raise ValueError(f"a sentence is a string or a list of tokens, not {sentence!r:.80}")
        return tokens

    def _outputs(self, layers: torch.Tensor) -> dict[str, torch.Tensor]:
        """By their names, from the layers of a sentence."""
        # Shape: (length,)
        mask = torch.ones(layers.size(1), dtype=torch.bool)
        with torch.no_grad():
            elmo = self.mix(layers[None], mask[None])[0]
        x, *contextual = layers.clone()
        outputs = {"word_emb": x.chunk(2, dim=1)[0]}
        outputs |= {f"lstm_outputs{j}": h for j, h in enumerate(contextual, start=1)}
        return {**outputs, "elmo": elmo, "default": elmo.sum(0) / max(1, len(elmo)), "mask": mask}

    def _empty(self, batch_size: int, length: int) -> dict[str, torch.Tensor]:
        """The outputs of padding alone."""
        no_tokens = torch.zeros(self.bilm.num_layers, 0, self.bilm.get_output_dim())
        outputs = {
            name: output.new_zeros(batch_size, length, *output.shape[1:])
            for name, output in self._outputs(no_tokens).items()
        }
        outputs["default"] = torch.zeros(batch_size, self.bilm.get_output_dim())
        return outputs

    def _converted(self, outputs: dict[str, torch.Tensor]) -> dict[str, Any]:
        if not self.as_numpy:
            return dict(outputs)
        return {name: output.numpy() for name, output in outputs.items()}


def windows(sentences: Iterable[list[str]]) -> Iterator[list[list[str]]]:
    """Sentences in groups of `WINDOW_TOKENS` or little more."""
    window: list[list[str]] = []
    size = 0
    for words in sentences:
        window.append(words)
        # Empty sentences count as well.
        size += len(words) + 1
        if size >= WINDOW_TOKENS:
            yield window
            window, size = [], 0
    if window:
        yield window


def _progress(num_tokens: int | None = None) -> tqdm:
    return Tqdm.tqdm(total=num_tokens, unit=" tokens", delay=_PATIENCE)


def _several(sentences: Iterable[Sentence]) -> Iterable[Sentence]:
    if isinstance(sentences, str):
        raise ValueError(f"expected a list of sentences, not one string: {sentences!r:.80}")
    return sentences


def _without_padding(words: list[str]) -> list[str]:
    while words and not words[-1]:
        words = words[:-1]
    return words


def _cut(padded: list[list[str]], lengths: list[int]) -> list[list[str]]:
    if len(lengths) != len(padded):
        raise ValueError(f"got {len(lengths)} lengths for {len(padded)} sentences")
    for number, (words, length) in enumerate(zip(padded, lengths)):
        if not 0 <= length <= len(words):
            raise ValueError(
                f"the length of sentence {number} is {length}, but it has {len(words)} tokens"
            )
    return [words[:length] for words, length in zip(padded, lengths)]
