import math
from typing import NamedTuple

import torch
from torch.nn.functional import embedding, linear

from elmo_tasks.bilm.files.options import BiLmOptions
from elmo_tasks.kernels.frozen_product import FrozenProduct
from elmo_tasks.kernels.lookup_convolution import convolution_table, looks_up, lookup_convolution
from elmo_tasks.kernels.trained_product import trained_product

# Tokens go through the network in groups, which bounds its memory. Convolutions without look-up
# tables take smaller groups, of tokens of similar length.
_GROUP_TOKENS, _WINDOW_TOKENS = 2048, 128

# Look-up tables have a row for each character. With more characters than this, no tables are made.
# At the original size, tables of 1,000 rows take 50 MB together.
_MAX_LOOKED_UP = 1000


class CharCnn(torch.nn.Module):
    """
    Computes the context-independent token representation x^LM of Peters et al. 2018, section 3.2:
    convolutions over the characters of a token, highway layers, a linear projection.
    """

    def __init__(self, options: BiLmOptions) -> None:
        super().__init__()
        self.max_characters = options.max_characters
        self.num_characters = options.num_characters
        self.embedding = torch.nn.Parameter(torch.empty(self.num_characters, options.char_dim))
        self.convolutions = torch.nn.ModuleList(
            torch.nn.Conv1d(options.char_dim, num_filters, width)
            for width, num_filters in options.filters
        )
        self.activation = {"relu": torch.relu, "tanh": torch.tanh}[options.activation]
        self.highways = _HighwayWeights(options.num_filters, options.num_highway)
        self.projection = torch.nn.Linear(options.num_filters, options.projection_dim)
        self._frozen: _Frozen | None = None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws the weights as bilm-tf does before training."""
        torch.nn.init.uniform_(self.embedding, -1, 1)
        self.embedding.data[0] = 0
        for convolution in self.convolutions:
            torch.nn.init.uniform_(convolution.weight, -0.05, 0.05)
            torch.nn.init.zeros_(convolution.bias)
        num_filters = self.projection.in_features
        for highway in self.highways._layers:
            torch.nn.init.normal_(highway.weight, std=1 / math.sqrt(num_filters))
            torch.nn.init.zeros_(highway.bias)
            # A bias of 2 makes a new layer pass its input on. bilm-tf's gate weighs the transform
            # instead, with a bias of -2.
            highway.bias.data[num_filters:] = 2
        torch.nn.init.normal_(self.projection.weight, std=1 / math.sqrt(num_filters))
        torch.nn.init.zeros_(self.projection.bias)

    @torch.inference_mode(False)
    @torch.no_grad()
    def freeze(self, dtype: torch.dtype | None = None) -> None:
        """
        Copies the weights into layouts for fast matrix products in `dtype` (by default the dtype of
        the weights). Convolutions may become tables by character. Until `thaw` is called, the
        weights must not change.
        """
        tables: list[torch.Tensor] = []
        windows: list[FrozenProduct] = []
        for convolution in self.convolutions:
            if self._has_tables():
                tables.append(convolution_table(self.embedding, convolution.weight))
            else:
                windows.append(FrozenProduct(convolution.weight.flatten(1), dtype=dtype))
        layers = [FrozenProduct(layer.weight, layer.bias, dtype) for layer in self._layers]
        self._frozen = _Frozen(tables, windows, layers)

    def thaw(self) -> None:
        self._frozen = None

    def forward(self, char_ids: torch.Tensor) -> torch.Tensor:
        """
        Maps char ids of shape (tokens, 50) to x^LM: shape (tokens, projection_dim). The padding
        within a token has the largest id and a learned embedding, so it influences x^LM.
        """
        if not self._has_tables():
            order = (char_ids != self.num_characters - 1).sum(dim=1).argsort()
            filters = [self._filters(group) for group in char_ids[order].split(_WINDOW_TOKENS)]
            groups = torch.cat(filters)[order.argsort()].split(_GROUP_TOKENS)
            vectors = [self._vectors(group) for group in groups]
        else:
            vectors = [
                self._vectors(self._lookup_maxima(group)) for group in char_ids.split(_GROUP_TOKENS)
            ]
        # Even under autocast, these vectors keep the dtype of the weights, because roundings add up
        # in the LSTMs.
        return torch.cat(vectors).to(self.embedding.dtype)

    def _vectors(self, filters: torch.Tensor) -> torch.Tensor:
        """Computes x^LM from the maximum of each filter."""
        if len(filters) == 1:
            # A product of one row may be rounded differently than a product of several. But a token
            # must get the same vector alone and among others: a recovered training run begins with
            # an empty cache of tokens and has to compute the same numbers.
            return self._vectors(filters.expand(2, -1))[:1]
        x = self.activation(filters)
        for k in range(len(self.highways._layers)):
            transform, carry = self._product(x, k).chunk(2, dim=1)
            x = torch.lerp(torch.relu(transform), x.to(transform.dtype), torch.sigmoid(carry))
        return self._product(x, -1)

    def _product(self, x: torch.Tensor, k: int) -> torch.Tensor:
        """Computes the matrix product of highway layer `k`, or of the projection if `k` is -1."""
        if self._frozen is not None:
            return self._frozen.layers[k](x)
        return trained_product(x, self._layers[k].weight, self._layers[k].bias)

    @property
    def _layers(self) -> list[torch.nn.Linear]:
        return [*self.highways._layers, self.projection]

    def _has_tables(self) -> bool:
        return looks_up(self.embedding) and self.num_characters <= _MAX_LOOKED_UP

    def _lookup_maxima(self, char_ids: torch.Tensor) -> torch.Tensor:
        """
        Returns each filter's maximum over all windows. Adds up tabulated convolutions of
        characters.
        """
        if (
            len(char_ids)
            and not 0 <= int(char_ids.min()) <= int(char_ids.max()) < self.num_characters
        ):
            raise IndexError(
                f"char ids must be from 0 to {self.num_characters - 1}, but are from "
                f"{int(char_ids.min())} to {int(char_ids.max())}"
            )
        char_ids, pooled = char_ids.contiguous(), []
        for k, convolution in enumerate(self.convolutions):
            weight = convolution.weight
            if self._frozen is not None:
                table = self._frozen.tables[k]
            else:
                table = convolution_table(self.embedding, weight)
            pooled.append(lookup_convolution(char_ids, table, len(weight)) + convolution.bias)
        return torch.cat(pooled, dim=1)

    def _filters(self, char_ids: torch.Tensor) -> torch.Tensor:
        """Returns each filter's maximum over all windows. The last token must be the longest."""
        longest = int((char_ids[-1:] != self.num_characters - 1).sum())
        pooled = []
        for k, convolution in enumerate(self.convolutions):
            (width,) = convolution.kernel_size
            # All windows that begin after the longest token are equal, so one of them is enough.
            slots = min(longest + width, char_ids.size(1))
            # Shape: (tokens, windows, char_dim * width)
            windows = embedding(char_ids[:, :slots], self.embedding).unfold(1, width, 1).flatten(2)
            flat = windows.flatten(0, 1)
            if self._frozen is not None:
                responses = self._frozen.windows[k](flat)
            else:
                responses = linear(flat, convolution.weight.flatten(1))
            # Shape: (tokens, windows, filters)
            responses = responses.unflatten(0, windows.shape[:2])
            # `amax` is faster than `max`, but its gradient is slower.
            largest = responses.max(1)[0] if responses.requires_grad else responses.amax(1)
            pooled.append(largest + convolution.bias)
        return torch.cat(pooled, dim=1)


class _Frozen(NamedTuple):
    """
    The frozen weights: tables or products for the convolutions, products for highways and
    projection.
    """

    tables: list[torch.Tensor]
    windows: list[FrozenProduct]
    layers: list[FrozenProduct]


class _HighwayWeights(torch.nn.Module):
    """
    The weights of the highway layers, with the names of AllenNLP's `Highway`. A gate of 1 passes
    the input on. In bilm-tf, a gate of 1 passes the transformed input on, so `layout.py` negates
    the gate's weights.
    """

    def __init__(self, dim: int, num_layers: int) -> None:
        super().__init__()
        self._layers = torch.nn.ModuleList(torch.nn.Linear(dim, 2 * dim) for _ in range(num_layers))
