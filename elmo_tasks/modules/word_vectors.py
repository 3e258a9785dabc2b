import numpy
import torch
from allennlp.data import Vocabulary
from allennlp.modules.token_embedders import TokenEmbedder

from elmo_tasks.common.vector_files import check_words, read_vectors


@TokenEmbedder.register("elmo_word_vectors")
class WordVectors(TokenEmbedder):
    """
    Looks up word vectors from a file. The vectors are not trained. A word that is not in the file
    gets the vector of its lower case. If the file lacks the lower case too, the word gets zeros,
    like padding and unknown words. AllenNLP's `embedding` draws random vectors instead.

    Registered as a `TokenEmbedder` with name "elmo_word_vectors".

    # Parameters

    embedding_dim: Width of the vectors.
    pretrained_file: A file with a word and its numbers on each line, like GloVe's (see
        `read_vectors`). A model from an archive needs no file.
    vocab_namespace
    """

    def __init__(
        self,
        vocab: Vocabulary,
        embedding_dim: int,
        pretrained_file: str = None,
        vocab_namespace: str = "tokens",
    ) -> None:
        super().__init__()
        self._vocab_namespace = vocab_namespace
        words = _words(vocab, vocab_namespace)
        vectors = _file_vectors(pretrained_file, embedding_dim, vocab, vocab_namespace)
        self.weight = torch.nn.Parameter(_rows(words, vectors, embedding_dim), requires_grad=False)

    def get_output_dim(self) -> int:
        return self.weight.size(1)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Maps token ids of shape (batch, length) to vectors (batch, length, embedding_dim)."""
        return torch.nn.functional.embedding(tokens, self.weight)

    def extend_vocab(
        self,
        extended_vocab: Vocabulary,
        extension_pretrained_file: str = None,
        model_path: str = None,
    ) -> None:
        """
        Adds a row for each word that AllenNLP's `--extend-vocab` has added to the vocabulary. The
        row is the word's vector from the file, if a file is given. Otherwise it is the row of the
        word's lower case, or zeros.
        """
        num_rows, dim = self.weight.shape
        words = _words(extended_vocab, self._vocab_namespace)
        new_words = words[num_rows:]
        if not new_words:
            return
        vectors = dict(zip(words, self.weight.detach().cpu().numpy()[:num_rows]))
        vectors |= _file_vectors(
            extension_pretrained_file, dim, extended_vocab, self._vocab_namespace
        )
        rows = _rows(new_words, vectors, dim).to(self.weight)
        self.weight = torch.nn.Parameter(torch.cat([self.weight, rows]), requires_grad=False)


def _words(vocab: Vocabulary, namespace: str) -> list[str]:
    names = vocab.get_index_to_token_vocabulary(namespace)
    return [names[index] for index in range(len(names))]


def _rows(words: list[str], vectors: dict[str, numpy.ndarray], dim: int) -> torch.Tensor:
    """Returns the vector of each word or of its lower case, or zeros."""
    rows = torch.zeros(len(words), dim)
    for index, word in enumerate(words):
        vector = vectors.get(word, vectors.get(word.lower()))
        if vector is not None:
            rows[index] = torch.from_numpy(vector)
    return rows


def _file_vectors(
    path: str | None, dim: int, vocab: Vocabulary, namespace: str
) -> dict[str, numpy.ndarray]:
    """Returns the vectors that a file has for the words, and for their lower case."""
    if path is None:
        return {}
    words = _words(vocab, namespace)
    vectors = read_vectors(path, dim, {form for word in words for form in (word, word.lower())})
    # The vocabulary may also have the words of the file itself.
    check_words(path, vectors, (vocab._retained_counter or {}).get(namespace) or words)
    return vectors
