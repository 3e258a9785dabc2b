import numpy as np
import pytest
import torch
from allennlp.data import Instance

from elmo_tasks.models.bidaf import Bidaf
from elmo_tasks.models.metrics.squad import SquadMetric
from tests.helpers.numpy_layers import sigmoid, softmax
from tests.helpers.task_models import Built, Task

TASK = Task("squad")


def ask(built: Built, question: str, passage: str) -> Instance:
    instance = built.reader.text_to_instance(question, passage)
    built.reader.apply_token_indexers(instance)
    return instance


class Reference:
    """
    The table of layers of Peters et al. 2018, supplement A.4, over one passage without padding, in
    NumPy. The text embedder is tested on its own.
    """

    def __init__(self, model: Bidaf) -> None:
        self.weights = {name: value.numpy() for name, value in model.state_dict().items()}

    def gru(self, name: str, suffix: str, inputs: np.ndarray) -> np.ndarray:
        w_x, w_h, b_x, b_h = (
            self.weights[f"{name}._module.{kind}_l0{suffix}"]
            for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        )
        h, outputs = np.zeros(w_h.shape[1]), []
        for x in inputs:
            (r, z, n), (u_r, u_z, u_n) = (np.split(g, 3) for g in (w_x @ x + b_x, w_h @ h + b_h))
            z = sigmoid(z + u_z)
            h = (1 - z) * np.tanh(n + sigmoid(r + u_r) * u_n) + z * h
            outputs.append(h)
        return np.stack(outputs)

    def bigru(self, name: str, x: np.ndarray) -> np.ndarray:
        backward = self.gru(name, "_reverse", x[::-1])[::-1]
        return np.concatenate([self.gru(name, "", x), backward], axis=-1)

    def linear(self, name: str, x: np.ndarray) -> np.ndarray:
        return x @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]

    def scores(self, name: str, p: np.ndarray, q: np.ndarray) -> np.ndarray:
        w_p, w_q, w_pq = (
            self.weights[f"{name}.score.{part}"][0] for part in ("p.weight", "q.weight", "product")
        )
        return (p @ w_p)[:, None] + q @ w_q + (p * w_pq) @ q.T

    def logits(
        self, q: np.ndarray, p: np.ndarray, q_elmo: np.ndarray, p_elmo: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Returns the logits of start and end."""
        q = np.concatenate([self.bigru("encoder", q), q_elmo], axis=-1)
        p = np.concatenate([self.bigru("encoder", p), p_elmo], axis=-1)
        scores = self.scores("attention", p, q)
        c2q, q2c = softmax(scores) @ q, softmax(scores.max(axis=1)) @ p
        x = np.concatenate([p, c2q, p * c2q, p * q2c], axis=-1)
        x = np.maximum(self.linear("attended", x), 0)
        h = self.bigru("residual_encoder", x)
        e = np.exp(self.scores("self_attention", h, h)) * (1 - np.eye(len(h)))
        null = np.exp(self.weights["self_attention.null_logit"])
        found = (e / (e.sum(axis=1, keepdims=True) + null)) @ h
        found = np.concatenate([found, h, found * h], axis=-1)
        x = x + np.maximum(self.linear("self_attended", found), 0)
        start = self.bigru("start_encoder", x)
        end = self.bigru("end_encoder", np.concatenate([x, start], axis=-1))
        return start @ self.weights["start.weight"][0], end @ self.weights["end.weight"][0]


def test_logits_are_those_of_the_table_of_layers() -> None:
    # The encoder is as wide as the ELMo that joins its output.
    built = TASK.build("{ hidden_dim:: 16 }")
    # Weights large enough for the attention to be far from uniform.
    model = built.model.double()
    for parameter in model.parameters():
        if parameter.requires_grad:
            parameter.data.add_(0.3 * torch.randn_like(parameter))
    tensors = built.tensors(built.instances)

    with torch.no_grad():
        output = model(**tensors)
        q, p = model.text_embedder(tensors["question"], tensors["passage"])

    reference = Reference(model)
    for row in range(len(built.instances)):
        m, n = int(q.mask[row].sum()), int(p.mask[row].sum())
        texts = (q.x[row, :m], p.x[row, :n], q.elmo[row, :m], p.elmo[row, :n])
        expected = reference.logits(*(each.numpy() for each in texts))
        for name, logits in zip(("start_logits", "end_logits"), expected):
            np.testing.assert_allclose(output[name][row, :n].numpy(), logits, atol=1e-9)
            assert (output[name][row, n:] < -1e300).all()


def test_loss_is_the_sum_of_the_two_cross_entropies() -> None:
    built = TASK.build()
    tensors = built.tensors(built.instances)

    output = built.model.double()(**tensors)

    expected = 0.0
    for end in ("start", "end"):
        logits = output[f"{end}_logits"].log_softmax(dim=1)
        expected -= logits.gather(1, tensors[f"span_{end}"]).mean().item()
    assert output["loss"].item() == pytest.approx(expected)


def test_a_question_whose_answer_has_no_place_is_scored_but_not_learnt() -> None:
    built = TASK.build()
    tensors = built.tensors(built.instances[:3])
    alone = built.model(**built.tensors(built.instances[1:2]))["loss"]
    built.model.get_metrics(reset=True)
    tensors["span_start"][[0, 2]] = tensors["span_end"][[0, 2]] = -1

    output = built.model(**tensors)
    tensors["span_start"][1] = tensors["span_end"][1] = -1
    none = built.model(**tensors)["loss"]

    torch.testing.assert_close(output["loss"], alone)
    assert built.model.squad._num_questions == 6
    assert none.item() == 0 and none.requires_grad


def test_weights_start_as_published() -> None:
    model = TASK.build().model

    for name, parameter in model.named_parameters():
        if "encoder._module" in name or name.startswith(("attended", "self_attended", "start.")):
            assert parameter.any() == ("weight" in name)
        if "encoder._module.weight" in name:
            assert parameter.abs().max() <= 0.1
    assert model.self_attention.null_logit.item() == -1


def test_dropout_is_around_two_encoders_and_before_start_and_end() -> None:
    # The maximum over characters would have zeros of its own.
    built = TASK.build("{ characters: null, hidden_dim:: 64, model+: { dropout: 0.5 } }")
    model = built.model
    # The sum of two ReLUs is zero nowhere if the first is not.
    model.attended.bias.data.fill_(10)
    # One question has no padding, which would be zeros too.
    tensors = built.tensors([built.instances[0]])
    inputs: dict[str, list[torch.Tensor]] = {}
    outputs = {}

    def record(name: str, args: tuple[torch.Tensor, ...], output: torch.Tensor) -> None:
        inputs[name] = [*inputs.get(name, []), *(arg for arg in args if arg.dim() == 3)]
        outputs[name] = output

    for name, layer in model.named_children():
        layer.register_forward_hook(
            lambda _, args, output, name=name: (
                record(name, args, output) if isinstance(args[0], torch.Tensor) else None
            )
        )
    # The other layers drop nothing.
    model.dropout.train()

    model(**tensors)

    x, (x_and_start,) = inputs["start_encoder"][0], inputs["end_encoder"]
    h_dim = model.encoder.get_output_dim()
    # Question and passage before and after the first encoder. ELMo joins them behind it.
    places = [*inputs["encoder"], *(h[:, :, :h_dim] for h in inputs["attention"])]
    places += [inputs["residual_encoder"][0], inputs["self_attention"][0], x]
    assert len(places) == 7
    for place in places:
        zeros = place[0] == 0
        assert torch.equal(zeros.any(dim=0), zeros.all(dim=0))
        assert zeros.double().mean().item() == pytest.approx(0.5, abs=0.25)
    # What the start's encoder found reaches the end's encoder whole.
    torch.testing.assert_close(x_and_start, torch.cat([x, outputs["start_encoder"]], dim=-1))


def test_answer_is_the_slice_of_the_raw_passage_and_is_scored() -> None:
    built = TASK.build()
    tensors = built.tensors(built.instances)

    output = built.model(**tensors)
    metrics = built.model.get_metrics(reset=True)

    metric = SquadMetric()
    for instance, answer, (first, last) in zip(
        built.instances, output["answer"], output["best_span"].tolist(), strict=True
    ):
        tokens = instance["passage"].tokens
        text = instance["metadata"]["passage"].text
        assert answer == text[tokens[first].idx : tokens[last].idx_end] != ""
        assert 0 <= last - first < 17
        metric([answer], [instance["metadata"]["answers"]])
    assert output["id"][0] == "harbour-1"
    assert {name: metrics[name] for name in ("em", "f1")} == metric.get_metric()


def test_answer_is_never_longer_than_asked_for_and_texts_may_have_one_token() -> None:
    built = TASK.build("{ max_answer_tokens: 1 }")
    passage = built.instances[0]["metadata"]["passage"].text

    output = built.model(**built.tensors([ask(built, "Who?", "Owls"), ask(built, "Why", passage)]))

    assert torch.equal(output["best_span"][:, 0], output["best_span"][:, 1])
    assert output["answer"][0] == "Owls" and "loss" not in output
    assert output["start_logits"].isfinite().all()


def test_long_answer_is_trained_on() -> None:
    built = TASK.build()
    instance = built.reader.text_to_instance(
        "What?", " ".join(["word"] * 40), answers=["word"], span=(2, 38)
    )
    built.reader.apply_token_indexers(instance)

    output = built.model(**built.tensors([instance]))
    output["loss"].backward()

    assert output["loss"].isfinite()
