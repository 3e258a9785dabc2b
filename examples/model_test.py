"""
Tests a model with ELMo, as AllenNLP's own models are tested:

    pytest examples/model_test.py
"""

import torch
from allennlp.common.testing import ModelTestCase

import elmo_tasks.plugin  # noqa: F401
import examples.own_model  # noqa: F401  registers the model


class TestOwnClassifier(ModelTestCase):
    def setup_method(self) -> None:
        super().setup_method()
        self.set_up_model("examples/token_embedder.jsonnet", "fixtures/imdb.jsonl")

    def test_it_trains_saves_and_loads(self) -> None:
        self.ensure_model_can_train_save_and_load(self.param_file)

    def test_a_batch_is_classified_as_each_text_is(self) -> None:
        self.ensure_batch_predictions_are_consistent()

    def test_the_mix_learns_and_the_bilm_is_frozen(self) -> None:
        self.model(**self.dataset.as_tensor_dict())["loss"].backward()

        elmo = self.model.text_field_embedder.token_embedder_elmo
        assert elmo.mix.scalar_parameters.grad.abs().sum() > 0
        assert not any(parameter.requires_grad for parameter in elmo.bilm.parameters())
        assert torch.isfinite(self.model.get_regularization_penalty())
