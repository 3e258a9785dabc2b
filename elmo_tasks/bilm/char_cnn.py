import math

import torch
from allennlp.modules import Highway
from torch.nn.functional import embedding, max_pool1d

from elmo_tasks.bilm.options import BiLmOptions

# Ids of AllenNLP's `elmo_characters` indexer: 0 is padding, a byte is 1 to 256.
NUM_CHARACTERS = 262
BEGIN_SENTENCE, END_SENTENCE, BEGIN_WORD, END_WORD, PAD_CHARACTER = 257, 258, 259, 260, 261

# Tokens of like length are convolved together: bytes and the two boundaries of the word.
_BUCKET_ENDS = (6, 9, 13, 20)

# Tokens of like length are convolved together; lengths are in bytes and the word's boundaries.
_BUCKET_ENDS = (6, 9, 13, 20)


class CharCnn(torch.nn.Module):
    """
    The context-independent token representation x^LM of Peters et al. 2018, section 3.2:
    convolutions over the characters of a token, highway layers, a linear projection.

    # Parameters

    options : `BiLmOptions`
        Widths, filters and activation.
    """

    def __init__(self, options: BiLmOptions) -> None:
        super().__init__()
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
        self.register_buffer("_bucket_ends", torch.tensor(_BUCKET_ENDS), persistent=False)
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
        lengths = (char_ids != PAD_CHARACTER).sum(dim=1)
        buckets = torch.bucketize(lengths, self._bucket_ends)
        order = buckets.argsort()
        groups = char_ids[order].split(buckets.bincount(minlength=1).tolist())
        filters = torch.cat([self._filters(group) for group in groups])
        vectors = self.projection(self.highways(self.activation(filters)))
        # Under autocast too, what the LSTMs add to and remember keeps the dtype of the weights.
        return vectors[order.argsort()].to(self.embedding.dtype)

    def _filters(self, char_ids: torch.Tensor) -> torch.Tensor:
        """The maximum of each filter over all windows: shape (tokens, num_filters)."""
        if len(char_ids) == 0:
            return self.embedding.new_empty(0, self.projection.in_features)
        longest = int((char_ids != PAD_CHARACTER).sum(dim=1).max())
        pooled = []
        for convolution in self.convolutions:
            # Of the windows that begin after the longest token, all alike, one is enough.
            width = min(longest + convolution.kernel_size[0], char_ids.size(1))
            # Shape: (tokens, char_dim, characters)
            characters = embedding(char_ids[:, :width], self.embedding).transpose(1, 2)
            windows = convolution(characters)
            pooled.append(max_pool1d(windows, windows.size(2)).squeeze(2))
        return torch.cat(pooled, dim=1)


def boundary_char_ids(character: int, max_characters: int) -> torch.Tensor:
    """The char ids of a token of one character, as those of the two sentence boundaries are."""
    char_ids = torch.full((max_characters,), PAD_CHARACTER)
    char_ids[:3] = torch.tensor([BEGIN_WORD, character, END_WORD])
    return char_ids
