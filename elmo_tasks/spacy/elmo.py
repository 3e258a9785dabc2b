import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Union

import numpy
import srsly
from spacy.language import Language
from spacy.tokens import Doc, Span, Token

from elmo_tasks.elmo import ElmoEncoder
from elmo_tasks.elmo.locate import DEFAULT_BILM
from elmo_tasks.spacy.pipes import BatchedPipe, of_docs

_Text = Union[Doc, Span, Token]

Doc.set_extension("elmo", default=None, force=True)


class ElmoComponent(BatchedPipe):
    """
    Sets `doc._.elmo`, an array of shape (tokens, width of ELMo_k) in float32. The vectors and
    similarities of the doc, its spans and its tokens then come from this array (see `use_elmo`).

    The biLM reads each sentence by itself, and the vectors equal those of `ElmoEncoder`. A doc
    without sentence boundaries is one sentence. The components `sentencizer` and `parser` set
    boundaries, if they come before this component. Tokens of white space are left out of the
    sentence, and their vectors are all zeros. A token with a blank inside, such as an entity that
    was merged, is one word to the biLM.

    Registered as a factory with the name "elmo". A saved pipeline contains the biLM and the mix.
    The biLM is opened at first use.

    # Parameters

    bilm: The name or the path of a biLM.
    place, layers: As for `ElmoEncoder.from_pretrained`.
    device: The device that the biLM runs on.
    """

    def __init__(
        self,
        nlp: Language,
        name: str,
        bilm: str = DEFAULT_BILM,
        place: str | None = None,
        layers: Union[str, int] = "all",
        device: str = "cpu",
    ) -> None:
        super().__init__(name)
        self.bilm = bilm
        self.place = place
        self.layers = layers
        self.device = device
        self._encoder: ElmoEncoder | None = None

    @property
    def encoder(self) -> ElmoEncoder:
        """The biLM and the mix. Raises `ConfigurationError` if they cannot be opened."""
        if self._encoder is None:
            self._encoder = ElmoEncoder.from_pretrained(
                self.bilm, self.place, device=self.device, layers=self.layers
            )
        return self._encoder

    def annotate(self, docs: list[Doc]) -> None:
        encoder, dim = self.encoder, self.encoder.get_output_dim()
        arrays = [numpy.zeros((len(doc), dim), numpy.float32) for doc in docs]
        sentences = list(of_docs(docs))
        batches = encoder.layers.of_tokens(sentence.words for sentence in sentences)
        for sentence, layers in zip(sentences, batches):
            arrays[sentence.doc][sentence.indices] = encoder.mix.of_sentence(layers).numpy()
        for doc, array in zip(docs, arrays):
            doc._.elmo = array
            # spaCy passes a doc's tensor between processes, but not its hooks. If a doc already has
            # a tensor, a `tok2vec` set it for later components.
            if not doc.tensor.size:
                doc.tensor = array
            use_elmo(doc)

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Returns the biLM and the mix."""
        return encoder_to_bytes(self.encoder)

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> "ElmoComponent":
        """Loads the biLM and the mix that `to_bytes` returned."""
        self._encoder = encoder_from_bytes(data, self.device)
        return self

    def to_disk(self, path: Union[str, Path], *, exclude: Iterable[str] = ()) -> None:
        """Writes the biLM and the mix to a folder (see `ElmoEncoder.save_pretrained`)."""
        self.encoder.save_pretrained(path)

    def from_disk(self, path: Union[str, Path], *, exclude: Iterable[str] = ()) -> "ElmoComponent":
        """Loads the biLM and the mix that `to_disk` wrote."""
        self._encoder = ElmoEncoder.from_pretrained(path, device=self.device)
        return self


def encoder_to_bytes(encoder: ElmoEncoder) -> bytes:
    """Returns the files that `ElmoEncoder.save_pretrained` writes, as bytes."""
    with tempfile.TemporaryDirectory() as folder:
        encoder.save_pretrained(folder)
        return srsly.msgpack_dumps(
            {file.name: file.read_bytes() for file in Path(folder).iterdir()}
        )


def encoder_from_bytes(data: bytes, device: str) -> ElmoEncoder:
    """Returns the encoder that `encoder_to_bytes` saved."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in srsly.msgpack_loads(data).items():
            # Only the last part of the name is used, so that no path leads out of the folder.
            Path(folder, Path(name).name).write_bytes(content)
        return ElmoEncoder.from_pretrained(folder, device=device)


def use_elmo(doc: Doc) -> Doc:
    """
    Makes `vector`, `has_vector` and `similarity` of a doc, its spans and its tokens use
    `doc._.elmo` in place of the vocabulary's vectors. The vector of a doc or span is the mean over
    its tokens without white space, and similarity is the cosine. Returns the doc.

    The component `elmo` calls this function. Call it yourself for a doc that comes from another
    process (`n_process`), from bytes or from a `DocBin` with user data, because such a doc loses
    the functions that use `doc._.elmo`. Without them, two equal words have the similarity 1 in all
    contexts.

    # Raises

    `ValueError`: Later, when a vector is used, if the doc does not have one vector for each token.
    """
    doc.user_hooks.update(vector=_mean, has_vector=_has_vector, similarity=_similarity)
    doc.user_span_hooks.update(vector=_mean, has_vector=_has_vector, similarity=_similarity)
    doc.user_token_hooks.update(vector=_row, has_vector=_has_vector, similarity=_similarity)
    return doc


def _array(doc: Doc) -> numpy.ndarray:
    array = doc._.elmo
    if array is None or len(array) != len(doc):
        number = "no ELMo vectors" if array is None else f"{len(array)} ELMo vectors"
        raise ValueError(
            f"this doc has {len(doc)} tokens and {number}; run the component elmo on it (again, if "
            "tokens were merged or split, or if `as_doc` made the doc)"
        )
    return array


def _row(token: Token) -> numpy.ndarray:
    return _array(token.doc)[token.i]


def _mean(text: Union[Doc, Span]) -> numpy.ndarray:
    array = _array(text.doc)
    rows = [token.i for token in text if not token.is_space]
    return array[rows].mean(axis=0) if rows else array[:0].sum(axis=0)


def _has_vector(text: _Text) -> bool:
    return bool(text.vector.any())


def _similarity(text: _Text, second: _Text) -> float:
    first, two = text.vector, second.vector
    norms = numpy.linalg.norm(first) * numpy.linalg.norm(two)
    return float(first @ two / norms) if norms else 0.0
