from collections.abc import Callable

import torch
from spacy.tokens import Doc
from thinc.api import (
    Dropout,
    Maxout,
    Model,
    chain,
    concatenate,
    get_torch_default_device,
    with_array,
)
from thinc.shims import Shim
from thinc.types import Floats2d, Floats3d

from elmo_tasks.elmo import ElmoEncoder
from elmo_tasks.elmo.locate import DEFAULT_BILM
from elmo_tasks.elmo.store import LayerStore
from elmo_tasks.spacy.elmo import encoder_from_bytes, encoder_to_bytes
from elmo_tasks.spacy.pipes import of_docs, threads_of_this_process


def tok2vec(
    width: int,
    bilm: str = DEFAULT_BILM,
    words: Model[list[Doc], list[Floats2d]] | None = None,
    store: str | None = None,
) -> Model[list[Doc], list[Floats2d]]:
    """
    Makes a tok2vec layer of ELMo for spaCy's trainable components. It mixes the layers of a frozen
    biLM into ELMo_k (Peters et al. 2018, equation 1). With `words`, a token's vector is [x_k;
    ELMo_k] (section 3.3). After that come dropout and a maxout layer with layer norm. Only the biLM
    is not trained. `training.dropout` in spaCy's config is the probability of dropout.

    The biLM reads each sentence by itself. A doc without sentence boundaries is one sentence. The
    layers of a token of white space are all zeros.

    Registered in `architectures` with the name "elmo_tasks.Tok2Vec.v1". A saved pipeline contains
    the biLM.

    # Parameters

    width: The width of the output, for each token.
    bilm: The biLM: its name, or a path as for `ElmoEncoder.from_pretrained`.
    words: A model that computes x_k, such as spaCy's `spacy.MultiHashEmbed.v2`.
    store: A folder that keeps the layers of every sentence (see `LayerStore`), so that the biLM
        reads each sentence once in a training run. By default the biLM reads each sentence in each
        epoch.
    """
    elmo = chain(_layers(bilm, store), with_array(mix()))
    x = elmo if words is None else concatenate(words, elmo)
    output = with_array(chain(Dropout(), Maxout(nO=width, nP=3, normalize=True)))
    model = chain(x, output)
    model.set_dim("nO", width)
    return model


def _layers(bilm: str, store: str | None) -> Model[list[Doc], list[Floats3d]]:
    """Returns a thinc model that computes layers of shape (tokens, num_layers, dim)."""
    return Model("elmo_layers", _layers_forward, shims=[BiLmShim(bilm, store)])


def _layers_forward(
    model: Model[list[Doc], list[Floats3d]], docs: list[Doc], is_train: bool
) -> tuple[list[Floats3d], Callable]:
    encoder = model.shims[0].encoder
    empty = encoder.layers.no_layers().transpose(0, 1)
    outputs = [torch.zeros(len(doc), *empty.shape[1:]) for doc in docs]
    sentences = list(of_docs(docs))
    with threads_of_this_process():
        batches = encoder.layers.of_tokens(sentence.words for sentence in sentences)
        for sentence, layers in zip(sentences, batches):
            outputs[sentence.doc][sentence.indices] = layers.transpose(0, 1)
    return [model.ops.asarray3f(output.numpy()) for output in outputs], lambda _: []


class BiLmShim(Shim):
    """
    Holds a frozen biLM in a thinc model, and saves the biLM with the model. The biLM is opened at
    first use. So a saved model can also be loaded on a machine that does not know the name or path
    of the biLM.

    # Parameters

    bilm, store: As for `tok2vec`.
    """

    _model: ElmoEncoder | None

    def __init__(self, bilm: str, store: str | None = None) -> None:
        super().__init__(None)
        self.bilm = bilm
        self.store = store

    @property
    def encoder(self) -> ElmoEncoder:
        if self._model is None:
            store = None if self.store is None else LayerStore(self.store)
            device = get_torch_default_device()
            self._model = ElmoEncoder.from_pretrained(self.bilm, store=store, device=device)
        return self._model

    def finish_update(self, optimizer) -> None:
        """Does nothing, since the biLM is frozen."""

    def to_device(self, device_type: str, device_id: int) -> None:
        """Does nothing, because the biLM is opened on the device that spaCy uses."""

    def to_bytes(self) -> bytes:
        return encoder_to_bytes(self.encoder)

    def from_bytes(self, data: bytes) -> "BiLmShim":
        self._model = encoder_from_bytes(data, device=str(get_torch_default_device()))
        return self


def mix() -> Model[Floats3d, Floats2d]:
    """
    Returns a thinc model that computes ELMo_k of shape (tokens, dim), as an `ElmoMix` of all layers
    does. It is not an `ElmoMix`, because thinc saves a PyTorch module as a pickle.
    """
    return Model("elmo_mix", _mix_forward, init=_mix_init, params={"w": None, "gamma": None})


def _mix_init(model: Model, X: Floats3d | None = None, Y: Floats2d | None = None) -> None:
    if X is not None:
        model.set_param("w", model.ops.alloc1f(X.shape[1]))
        model.set_param("gamma", model.ops.alloc1f(1) + 1)


def _mix_forward(
    model: Model[Floats3d, Floats2d], X: Floats3d, is_train: bool
) -> tuple[Floats2d, Callable[[Floats2d], Floats3d]]:
    xp = model.ops.xp
    weights = xp.exp(model.get_param("w") - model.get_param("w").max())
    weights /= weights.sum()
    gamma = model.get_param("gamma")
    # Shape: (tokens, dim)
    mean = xp.einsum("j,kjd->kd", weights, X)

    def backprop(dY: Floats2d) -> Floats3d:
        # The gradient of each weight s_j. The gradient of w follows through the softmax.
        ds = gamma * xp.einsum("kd,kjd->j", dY, X)
        model.inc_grad("w", weights * (ds - (weights * ds).sum()))
        model.inc_grad("gamma", (dY * mean).sum().reshape(1))
        # The biLM is frozen.
        return xp.zeros_like(X)

    return gamma * mean, backprop
