import copy
import logging
import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy
import torch

from elmo_tasks.bilm.bilm import BiLm, BiLmOutput
from elmo_tasks.bilm.char_cnn import CharCnn
from elmo_tasks.bilm.files.options import BiLmOptions
from elmo_tasks.bilm.projected_lstm import ProjectedLstm
from elmo_tasks.bilm.token_cache import TokenCache
from elmo_tasks.common.errors import ConfigurationError, check_choice
from elmo_tasks.common.tensors import hash_bytes
from elmo_tasks.kernels.frozen_product import DTYPES, used_dtype

logger = logging.getLogger(__name__)

StateDict = dict[str, torch.Tensor]

# The key under which a state dict has a frozen biLM's fingerprint instead of its weights.
FINGERPRINT = "fingerprint"


class LayerSource(NamedTuple):
    """
    Describes a biLM to a store of layers.

    # Parameters

    fingerprint: A hash of the weights, the options, the dtype and the kind of start state.
    start: The numbers of the state that every sentence starts from; empty if all are zeros.
    """

    fingerprint: bytes
    start: numpy.ndarray
    num_layers: int
    dim: int


class Store(Protocol):
    """The interface of a store of layers. `LayerStore` has it."""

    dtype: str

    def layers(
        self,
        source: LayerSource,
        char_ids: torch.Tensor,
        compute: Callable[[torch.Tensor], torch.Tensor],
    ) -> torch.Tensor:
        """See `LayerStore.layers`."""


class FrozenBiLm(BiLm):
    """
    A biLM that does not train. It remembers x^LM of recent tokens and, in a store, the layers of
    sentences. At its first use, it copies the weights into a layout for fast matrix products. After
    that, change the weights only with `load_state_dict` or `to`: both discard the copies.

    # Parameters

    options, state: As for `BiLm`.
    dtype: The dtype of the matrix products: `float32`, `bfloat16`, or `auto` for the faster of the
        two on the device of the weights. `bfloat16` is faster only on a device that has units for
        it. Weights, sums and layers stay in float32.
    cached_tokens: The number of tokens whose x^LM is remembered on a CPU; 0 for
        none.
    store: Remembers the layers of every sentence that the biLM has read. The `state` must not be
        `carry`, because a sentence must have the same layers every time.
    """

    trains = False

    # The dtype of the products: `float32` or `bfloat16`.
    dtype: str
    # These are computed from the weights, and `None` until they are needed.
    _token_cache: TokenCache | None
    _weights_hash: bytes | None

    def __init__(
        self,
        options: dict[str, Any] | BiLmOptions,
        state: str,
        dtype: str = "float32",
        cached_tokens: int = 50_000,
        store: Store | None = None,
    ) -> None:
        check_choice("dtype of a biLM", dtype, DTYPES)
        if store is not None and state == "carry":
            raise ConfigurationError(
                "a store needs a biLM that gives a sentence the same layers every time: set state "
                "to reset or snapshot"
            )
        super().__init__(options, state)
        self.asked_dtype = dtype
        self.cached_tokens = cached_tokens
        self.store = store
        self.is_random = True
        self._warned = False
        self._forget()
        self.register_load_state_dict_pre_hook(_take_fingerprint)
        self.register_load_state_dict_post_hook(_note_weights)
        self.requires_grad_(False)

    @classmethod
    def of(cls, bilm: BiLm, store: Store | None = None, dtype: str | None = None) -> "FrozenBiLm":
        """
        Returns a frozen copy of a biLM, with the state `snapshot` in place of `carry`. The copy of
        a `FrozenBiLm` keeps its `cached_tokens`, and its `dtype` unless another is given.
        """
        carries = bilm.state_name == "carry"
        settings: dict[str, Any] = {"store": store}
        if isinstance(bilm, FrozenBiLm):
            settings |= {"dtype": bilm.asked_dtype, "cached_tokens": bilm.cached_tokens}
        if dtype is not None:
            settings["dtype"] = dtype
        frozen = cls(bilm.options, "snapshot" if carries else bilm.state_name, **settings)
        frozen.to(bilm.like).load_state_dict({**frozen.state_dict(), **bilm.state_dict()})
        frozen.is_random = isinstance(bilm, FrozenBiLm) and bilm.is_random
        if carries:
            frozen.take_snapshot()
        return frozen.eval()

    def forward(self, char_ids: torch.Tensor, boundaries: bool = False) -> BiLmOutput:
        """
        Does what `BiLm.forward` does, without a gradient. A store has no layers of boundaries, so a
        call with `boundaries` always computes the layers.
        """
        char_ids = self.fitted(char_ids)
        if self.is_random and not self._warned:
            logger.warning("This biLM has random weights: give it a pretrained_file.")
            self._warned = True
        if self.store is None or boundaries:
            with torch.no_grad():
                return super().forward(char_ids, boundaries)
        layers = self.store.layers(self.source(), char_ids, self.computed_layers)
        return BiLmOutput(layers.to(self.like), (char_ids > 0).any(dim=-1))

    def computed_layers(self, char_ids: torch.Tensor) -> torch.Tensor:
        """Computes the layers of a batch, without the store."""
        with torch.no_grad():
            return super().forward(char_ids).layers

    def fingerprint(self) -> bytes:
        """Returns a hash of the options, weights, dtype of products and kind of start state."""
        return self._fingerprint(self.dtype)

    def leave_out_weights(self, state: StateDict, prefix: str) -> StateDict:
        """
        Returns a copy of a model's state dict in which a hash, the fingerprint, takes the place of
        this biLM's weights. The keys of the weights begin with `prefix`, such as
        `text_embedder.bilm.`.
        """
        # A copy keeps the metadata that PyTorch attaches to a state dict.
        short = copy.copy(state)
        for name in self.weights():
            del short[prefix + name]
        short[prefix + FINGERPRINT] = torch.tensor(list(self.fingerprint()), dtype=torch.uint8)
        return short

    def put_back_weights(self, state: StateDict, prefix: str) -> StateDict:
        """
        Reverses `leave_out_weights`. Returns the state dict itself if it has no fingerprint. Raises
        `ValueError` if the state dict was saved with another biLM. A biLM that differs only in the
        `dtype` of its products counts as the same.
        """
        fingerprint = state.get(prefix + FINGERPRINT)
        if fingerprint is None:
            return state
        fingerprints = [list(self._fingerprint(dtype)) for dtype in DTYPES]
        if not isinstance(fingerprint, torch.Tensor) or fingerprint.tolist() not in fingerprints:
            raise ValueError(
                f"contains only the fingerprint of the biLM {prefix[:-1]}, and this model's biLM "
                "has other weights; load model.tar.gz, or best.th after the training has ended"
            )
        whole = copy.copy(state)
        del whole[prefix + FINGERPRINT]
        whole.update({prefix + name: tensor for name, tensor in self.weights().items()})
        return whole

    def read(self, path: str | os.PathLike) -> None:
        """Does what `BiLm.read` does, and forgets everything computed from the old weights."""
        super().read(path)
        _note_weights(self, None)

    def weights_hash(self) -> bytes:
        """
        Returns a hash of the weights, as `BiLm.weights_hash` does. The hash is kept until the
        weights change.
        """
        if self._weights_hash is None:
            self._weights_hash = super().weights_hash()
        return self._weights_hash

    def source(self) -> LayerSource:
        """Describes this biLM to a store."""
        parts = [part.detach().float().cpu().flatten() for part in self.state.state_dict().values()]
        start = torch.cat([torch.zeros(0), *parts]).numpy()
        return LayerSource(self.fingerprint(), start, self.num_layers, self.get_output_dim())

    def _fingerprint(self, dtype: str) -> bytes:
        settings = f"{replace(self.options, state=None)} {self.state_name} {dtype}"
        return hash_bytes(settings.encode() + self.weights_hash())

    def _vectors(self, char_ids: torch.Tensor, at_once: bool) -> torch.Tensor:
        cache = self._token_cache
        if cache is None:
            # Every use of the weights begins with this method.
            cache = self._freeze()
        compute = partial(super()._vectors, at_once=at_once)
        if self.cached_tokens == 0 or char_ids.device.type != "cpu":
            return compute(char_ids)
        return cache.vectors(char_ids, compute)

    def _freeze(self) -> TokenCache:
        """
        Copies the weights into the layout for fast products. Returns a new, empty cache of tokens.
        """
        # `None` stands for the dtype of the weights.
        dtype = torch.bfloat16 if self.dtype == "bfloat16" else None
        for module in self._modules_with_products():
            module.freeze(dtype)
        self._token_cache = cache = TokenCache(self.cached_tokens)
        return cache

    def _forget(self) -> None:
        """Forgets everything computed from the weights, because they change, move or are copied."""
        for module in self._modules_with_products():
            module.thaw()
        self._token_cache = None
        self._weights_hash = None
        keeps_dtype = self.like.dtype != torch.float32
        name = "float32" if self.asked_dtype == "auto" and keeps_dtype else self.asked_dtype
        # On another device, `auto` may choose another dtype.
        self.dtype = used_dtype(name, self.like.device)

    def _modules_with_products(self) -> list[CharCnn | ProjectedLstm]:
        return [module for module in self.modules() if isinstance(module, CharCnn | ProjectedLstm)]

    def _apply(self, *args: Any, **kwargs: Any) -> "FrozenBiLm":
        """Moves or casts all tensors."""
        super()._apply(*args, **kwargs)
        self._forget()
        return self

    def __getstate__(self) -> dict[str, Any]:
        # The products can be neither copied nor pickled.
        self._forget()
        return self.__dict__


def _take_fingerprint(
    bilm: FrozenBiLm,
    state: dict[str, torch.Tensor],
    prefix: str,
    _: Any,
    __: bool,
    *problems: list[str],
) -> None:
    """Lets `load_state_dict` accept a state dict with a fingerprint in place of the weights."""
    if prefix + FINGERPRINT not in state:
        return
    try:
        whole = bilm.put_back_weights(state, prefix)
    except ValueError as error:
        # The three lists hold missing keys, unexpected keys and other problems.
        problems[2].append(f"The file {error}.")
    else:
        del state[prefix + FINGERPRINT]
        state.update(whole)


def _note_weights(bilm: FrozenBiLm, _: Any) -> None:
    bilm.is_random = False
    bilm._forget()
