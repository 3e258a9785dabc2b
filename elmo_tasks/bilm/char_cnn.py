import math

import torch
from allennlp.modules import Highway
from torch.nn.functional import embedding

from elmo_tasks.bilm.files.options import BiLmOptions
from elmo_tasks.bilm.products import Product

# Ids of AllenNLP's `elmo_characters` indexer: 0 is padding, a byte is 1 to 256.
NUM_CHARACTERS = 262
BEGIN_SENTENCE, END_SENTENCE, BEGIN_WORD, END_WORD, PAD_CHARACTER = 257, 258, 259, 260, 261

# Tokens go through the network in groups that bound its memory, and through the convolutions in
# smaller ones, of like length.
_GROUP_TOKENS, _WINDOW_TOKENS = 2048, 128


class CharCnn(torch.nn.Module):
    """
    The context-independent token representation x^LM of Peters et al. 2018, section 3.2:
    convolutions over the characters of a token, highway layers, a linear projection.

    # Parameters

    options : `BiLmOptions`
        Widths, filters and activation.
    dtype : `torch.dtype`, optional
        Of the products while no gradient is wanted; by default that of the weights.
    """

    def __init__(self, options: BiLmOptions, dtype: torch.dtype | None = None) -> None:
        super().__init__()
        self.dtype = dtype
        self.max_characters = options.max_characters
        self.embedding = torch.nn.Parameter(torch.empty(NUM_CHARACTERS, options.char_dim))
        self.convolutions = torch.nn.ModuleList(
            torch.nn.Conv1d(options.char_dim, number, width) for width, number in options.filters
        )
        self.activation = {"relu": torch.relu, "tanh": torch.tanh}[options.activation]
        # AllenNLP's gate carries the input where bilm-tf's carries the transform: `weights.py`
        # negates it.
        self.highways = Highway(options.num_filters, options.num_highway, torch.relu)
        # bilm-tf leaves the projection out where the widths are equal; here it is the identity.
        self.projection = torch.nn.Linear(options.num_filters, options.projection_dim)
        self._products = [Product() for _ in range(len(options.filters) + options.num_highway + 1)]
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
            # Carry the input at first: -2 on the gate of the transform.
            highway.bias.data[num_filters:] = 2
        torch.nn.init.normal_(self.projection.weight, std=1 / math.sqrt(num_filters))
        torch.nn.init.zeros_(self.projection.bias)

    def forward(self, char_ids: torch.Tensor) -> torch.Tensor:
        """
        # Parameters

        char_ids : `torch.LongTensor`
            Shape (tokens, 50); no row is padding. The padding within a token is a character like
            the others, with a learned embedding, so all 50 count.

        # Returns

        `torch.Tensor`
            Shape (tokens, projection_dim).
        """
        order = (char_ids != PAD_CHARACTER).sum(dim=1).argsort()
        vectors = [self._vectors(group) for group in char_ids[order].split(_GROUP_TOKENS)]
        # Under autocast too, what the LSTMs add to and remember keeps the dtype of the weights.
        return torch.cat(vectors)[order.argsort()].to(self.embedding.dtype)

    def _vectors(self, char_ids: torch.Tensor) -> torch.Tensor:
        filters = torch.cat([self._filters(group) for group in char_ids.split(_WINDOW_TOKENS)])
        x = self.activation(filters)
        *products, project = self._products[len(self.convolutions) :]
        for layer, product in zip(self.highways._layers, products):
            transform, carry = product(x, layer.weight, layer.bias, self.dtype).chunk(2, dim=1)
            x = torch.lerp(torch.relu(transform), x.to(transform.dtype), torch.sigmoid(carry))
        return project(x, self.projection.weight, self.projection.bias, self.dtype)

    def _filters(self, char_ids: torch.Tensor) -> torch.Tensor:
        """The maximum of each filter over all windows, of tokens of which the last is longest."""
        longest = int((char_ids[-1:] != PAD_CHARACTER).sum())
        pooled = []
        for convolution, product in zip(self.convolutions, self._products):
            (width,) = convolution.kernel_size
            # Of the windows that begin after the longest token, all alike, one is enough.
            slots = min(longest + width, char_ids.size(1))
            # Shape: (tokens, windows, char_dim * width)
            windows = embedding(char_ids[:, :slots], self.embedding).unfold(1, width, 1).flatten(2)
            responses = product(
                windows.flatten(0, 1), convolution.weight.flatten(1), dtype=self.dtype
            )
            # Shape: (tokens, windows, filters)
            responses = responses.unflatten(0, windows.shape[:2])
            # `amax` is the faster of the two, and its gradient the slower.
            largest = responses.max(1)[0] if responses.requires_grad else responses.amax(1)
            pooled.append(largest + convolution.bias)
        return torch.cat(pooled, dim=1)


def boundary_char_ids(character: int, max_characters: int) -> torch.Tensor:
    """The char ids of a token of one character, as those of the two sentence boundaries are."""
    char_ids = torch.full((max_characters,), PAD_CHARACTER)
    char_ids[:3] = torch.tensor([BEGIN_WORD, character, END_WORD])
    return char_ids
