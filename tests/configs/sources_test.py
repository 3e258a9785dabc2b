"""Tests of the numbers of the configs against the papers and the code that they come from."""

from typing import Any

import pytest

from tests.helpers.configs import config, number_at

PETERS = "Peters et al. 2018"
CHEN = "Chen et al. 2017"
HE = "He et al. 2017"
LEE = "Lee et al. 2017"
MCCANN = "McCann et al. 2017"
DOCUMENT_QA = "document-qa, the authors' code for SQuAD"
BILM_TF = "bilm-tf, the authors' code for the biLM"
ALLENNLP = "allennlp-models"
E2E_COREF = "e2e-coref, the code of Lee et al. 2017"

WORDS = "model.text_embedder.words.token_embedders.tokens"
CHARACTERS = "model.text_embedder.words.token_embedders.token_characters"
INPUT_MIX = "model.text_embedder.input_mix"
OUTPUT_MIX = "model.text_embedder.output_mix"
PENALTY = "model.regularizer.regexes"

PARTS = "the widths of its parts: GloVe 300, the original biLM 1024"

COREF_INDEXERS = "dataset_reader.token_indexers"
SPAN = 2 * (2 * 200) + 20 + (300 + 3 * 50 + 1024)

# (config, path, value, source). A task without a variant stands for its `both` and `paper`. The
# value None means that the config has nothing at this path.
SOURCES: list[tuple[str, str, Any, str]] = [
    # SQuAD
    ("squad", "model.encoder.hidden_size", 90, f"{PETERS}, A.4"),
    ("squad", "model.residual_encoder.hidden_size", 90, f"{PETERS}, A.4"),
    ("squad", "model.start_encoder.hidden_size", 90, DOCUMENT_QA),
    ("squad", "model.end_encoder.hidden_size", 90, DOCUMENT_QA),
    ("squad", "model.regularizer", None, f"{PETERS}, A.4"),
    ("squad", f"{INPUT_MIX}.dropout", 0.5, DOCUMENT_QA),
    ("squad", f"{OUTPUT_MIX}.dropout", 0.5, DOCUMENT_QA),
    ("squad", f"{INPUT_MIX}.layer_norm", None, f"{PETERS}, A.4"),
    ("squad", f"{CHARACTERS}.embedding_dim", 20, DOCUMENT_QA),
    ("squad", f"{CHARACTERS}.num_filters", 100, DOCUMENT_QA),
    ("squad", f"{CHARACTERS}.width", 5, DOCUMENT_QA),
    ("squad", f"{CHARACTERS}.dropout", 0.2, DOCUMENT_QA),
    ("squad", f"{CHARACTERS}.max_characters", 14, DOCUMENT_QA),
    ("squad", "vocabulary.min_count.token_characters", 49, DOCUMENT_QA),
    ("squad", "model.dropout", 0.2, DOCUMENT_QA),
    ("squad", "model.max_answer_tokens", 17, DOCUMENT_QA),
    ("squad", "dataset_reader.max_passage_tokens", None, DOCUMENT_QA),
    ("squad", "data_loader.batch_sampler.batch_size", 45, DOCUMENT_QA),
    ("squad", "trainer.num_epochs", 24, DOCUMENT_QA),
    ("squad", "trainer.optimizer.lr", 1.0, DOCUMENT_QA),
    ("squad", "trainer.moving_average.decay", 0.999, DOCUMENT_QA),
    ("squad", "trainer.grad_norm", None, DOCUMENT_QA),
    ("squad", "trainer.optimizer.type", "adadelta", DOCUMENT_QA),
    ("squad", "trainer.optimizer.rho", 0.95, DOCUMENT_QA),
    ("squad", "trainer.optimizer.eps", 1e-8, DOCUMENT_QA),
    ("squad", "trainer.moving_average.validate_on", "raw", DOCUMENT_QA),
    ("squad", "data_loader.batch_sampler.drop_last", True, DOCUMENT_QA),
    ("squad", "validation_data_loader.batch_sampler.drop_last", None, DOCUMENT_QA),
    ("squad", "validation_dataset_reader.max_passage_tokens", None, DOCUMENT_QA),
    ("squad/paper", f"{WORDS}.type", "elmo_word_vectors", DOCUMENT_QA),
    ("squad/paper", "model.initializer.regexes.0.1.std", 0.05, DOCUMENT_QA),
    ("squad/paper", f"{WORDS}.embedding_dim", 300, DOCUMENT_QA),
    ("squad/paper", "model.encoder.input_size", 300 + 100 + 1024, PARTS),
    ("squad/paper", "model.residual_encoder.input_size", 2 * 90, PARTS),
    ("squad/paper", "model.start_encoder.input_size", 2 * 90, PARTS),
    ("squad/paper", "model.end_encoder.input_size", 2 * (2 * 90), PARTS),
    # SNLI
    ("snli", "model.encoder.hidden_size", 300, CHEN),
    ("snli", "model.composer.hidden_size", 300, CHEN),
    ("snli", "model.projection.hidden_dims", 300, CHEN),
    ("snli", "model.classifier.hidden_dims", [300, 3], CHEN),
    ("snli", "model.classifier.activations", ["relu", "linear"], f"{PETERS}, A.3"),
    ("snli", "model.classifier.dropout", [0.5, 0], CHEN),
    ("snli", "model.dropout", 0.5, CHEN),
    ("snli", f"{PENALTY}.0.1.alpha", 0.001, f"{PETERS}, A.3"),
    ("snli", "data_loader.batch_sampler.batch_size", 32, CHEN),
    ("snli", "trainer.optimizer.lr", 0.0004, CHEN),
    ("snli", "trainer.grad_norm", 5, f"{PETERS}, A.3"),
    ("snli", "trainer.num_epochs", 75, ALLENNLP),
    ("snli", "trainer.patience", 5, ALLENNLP),
    ("snli/paper", "model.attention_dropout", 0.5, f"{PETERS}, A.3"),
    ("snli/paper", f"{PENALTY}.1.1.alpha", 0.0001, f"{PETERS}, A.3"),
    ("snli/paper", "trainer.learning_rate_scheduler.factor", 0.5, f"{PETERS}, A.3"),
    ("snli/paper", "trainer.learning_rate_scheduler.patience", 0, f"{PETERS}, A.3"),
    ("snli/paper", f"{WORDS}.embedding_dim", 300, CHEN),
    ("snli/paper", "model.encoder.input_size", 300 + 1024, PARTS),
    ("snli/paper", "model.projection.input_dim", 4 * (2 * 300 + 1024), PARTS),
    ("snli/paper", "model.classifier.input_dim", 4 * 2 * 300, PARTS),
    # CoNLL-2003
    ("ner", f"{CHARACTERS}.embedding.embedding_dim", 16, f"{PETERS}, A.7"),
    ("ner", f"{CHARACTERS}.encoder.num_filters", 128, f"{PETERS}, A.7"),
    ("ner", f"{CHARACTERS}.encoder.ngram_filter_sizes", [3], f"{PETERS}, A.7"),
    ("ner", "model.encoders.0.hidden_size", 200, f"{PETERS}, A.7"),
    ("ner", "model.encoders.1.hidden_size", 100, f"{PETERS}, A.7"),
    ("ner", f"{PENALTY}.0.1.alpha", 0.1, f"{PETERS}, A.7"),
    ("ner", f"{INPUT_MIX}.dropout", 0, ALLENNLP),
    ("ner", "model.dropout", 0.5, ALLENNLP),
    ("ner", "data_loader.batch_sampler.batch_size", 64, ALLENNLP),
    ("ner", "trainer.optimizer.lr", 0.001, f"{PETERS}, A.7"),
    ("ner", "trainer.grad_norm", 5, f"{PETERS}, A.7"),
    ("ner", "trainer.num_epochs", 75, ALLENNLP),
    ("ner", "trainer.patience", 25, ALLENNLP),
    ("ner/paper", f"{WORDS}.embedding_dim", 50, f"{PETERS}, A.7"),
    ("ner/paper", "model.encoders.0.input_size", 50 + 128 + 1024, PARTS),
    ("ner/paper", "model.encoders.1.input_size", 2 * 200, PARTS),
    ("ner/paper", OUTPUT_MIX, None, f"{PETERS}, A.7"),
    # CoNLL-2012
    ("srl", f"{WORDS}.embedding_dim", 100, f"{PETERS}, A.5"),
    ("srl", "model.predicate_dim", 100, f"{PETERS}, A.5"),
    ("srl", "model.encoder.hidden_size", 300, f"{PETERS}, A.5"),
    ("srl", "model.encoder.num_layers", 8, f"{PETERS}, A.5"),
    ("srl", "model.encoder.recurrent_dropout_probability", 0.1, f"{PETERS}, A.5"),
    ("srl", "model.initializer.regexes.0.1.type", "orthogonal", f"{PETERS}, A.5"),
    ("srl", f"{PENALTY}.0.1.alpha", 0.001, f"{PETERS}, Table 2"),
    ("srl", f"{INPUT_MIX}.dropout", 0.1, ALLENNLP),
    ("srl", "data_loader.batch_sampler.batch_size", 80, HE),
    ("srl", "trainer.optimizer.type", "adadelta", f"{PETERS}, A.5"),
    ("srl", "trainer.optimizer.lr", 1.0, f"{PETERS}, A.5"),
    ("srl", "trainer.optimizer.rho", 0.95, f"{PETERS}, A.5"),
    ("srl", "trainer.grad_clipping", 1.0, f"{PETERS}, A.5"),
    ("srl", "trainer.num_epochs", 500, f"{PETERS}, A.5"),
    ("srl", "trainer.patience", 200, f"{PETERS}, A.5"),
    ("srl/paper", "model.encoder.input_size", 100 + 1024 + 100, PARTS),
    ("srl/paper", f"{WORDS}.trainable", True, f"{PETERS}, A.5"),
    ("srl/paper", OUTPUT_MIX, None, f"{PETERS}, Table 3"),
    ("coref", f"{CHARACTERS}.embedding.embedding_dim", 8, LEE),
    ("coref", f"{CHARACTERS}.encoder.ngram_filter_sizes", [3, 4, 5], LEE),
    ("coref", f"{CHARACTERS}.encoder.num_filters", 50, LEE),
    ("coref", "model.encoder.hidden_size", 200, LEE),
    ("coref", "model.mention_feedforward.num_layers", 2, LEE),
    ("coref", "model.mention_feedforward.hidden_dims", 150, LEE),
    ("coref", "model.antecedent_feedforward.num_layers", 2, LEE),
    ("coref", "model.antecedent_feedforward.hidden_dims", 150, LEE),
    ("coref", "model.antecedent_feedforward.dropout", 0.2, LEE),
    ("coref", "model.feature_dim", 20, LEE),
    ("coref", "model.max_span_width", 10, LEE),
    ("coref", "model.spans_per_word", 0.4, LEE),
    ("coref", "model.max_antecedents", 250, LEE),
    ("coref", "model.max_training_sentences", 50, LEE),
    ("coref", "model.lexical_dropout", 0.5, LEE),
    ("coref", "model.dropout", 0.2, LEE),
    ("coref", f"{INPUT_MIX}.dropout", 0.5, f"{PETERS}, A.6"),
    ("coref", f"{INPUT_MIX}.layer_norm", None, f"{PETERS}, A.6"),
    ("coref", "model.regularizer", None, f"{PETERS}, A.6"),
    ("coref", "data_loader.batch_size", 1, LEE),
    ("coref", "trainer.optimizer.type", "elmo_adam", LEE),
    ("coref", "trainer.optimizer.lr", 0.001, LEE),
    # 0.1 % less every 100 of the 2,802 documents of CoNLL-2012.
    ("coref", "trainer.learning_rate_scheduler.gamma", round(0.999**28, 3), LEE),
    ("coref", "trainer.grad_norm", 5.0, E2E_COREF),
    ("coref", "trainer.num_epochs", 150, LEE),
    ("coref/paper", f"{WORDS}.embedding_dim", 300, LEE),
    ("coref/paper", OUTPUT_MIX, None, f"{PETERS}, A.6"),
    # Three filters of 50 characters, a span of both ends and a head, a feature of 20.
    ("coref/paper", "model.encoder.input_size", 300 + 3 * 50 + 1024, PARTS),
    ("coref/paper", "model.mention_feedforward.input_dim", SPAN, PARTS),
    ("coref/paper", "model.antecedent_feedforward.input_dim", 3 * SPAN + 3 * 20, PARTS),
    ("coref", f"{COREF_INDEXERS}.token_characters.min_padding_length", 5, LEE),
    # SST
    ("sst", "dataset_reader.min_phrase_tokens", 4, MCCANN),
    ("sst", "validation_dataset_reader.min_phrase_tokens", None, MCCANN),
    ("sst", "model.feedforward.hidden_dims", 300, MCCANN),
    ("sst", "model.feedforward.dropout", 0.25, ALLENNLP),
    ("sst", "model.encoder.hidden_size", 300, MCCANN),
    ("sst", "model.integrator.hidden_size", 300, MCCANN),
    ("sst", "model.dropout", 0.2, f"{MCCANN}, one of three values"),
    ("sst", "model.classifier.hidden_dims", [1200, 600, 5], ALLENNLP),
    ("sst", "model.classifier.dropout", [0.2, 0.3, 0], ALLENNLP),
    ("sst", f"{PENALTY}.0.1.alpha", 0.001, f"{PETERS}, A.8"),
    ("sst", "data_loader.batch_sampler.batch_size", 100, ALLENNLP),
    ("sst", "trainer.grad_norm", 5, ALLENNLP),
    ("sst", "trainer.num_epochs", 40, ALLENNLP),
    ("sst", "trainer.patience", 5, ALLENNLP),
    ("sst/both", "trainer.optimizer.lr", 0.001, MCCANN),
    ("sst/paper", "trainer.optimizer.lr", 0.0001, f"{PETERS}, A.8"),
    ("sst/paper", f"{WORDS}.embedding_dim", 300, MCCANN),
    ("sst/paper", "model.feedforward.input_dim", 300 + 1024, PARTS),
    ("sst/paper", "model.integrator.input_size", 3 * (2 * 300 + 1024), PARTS),
    ("sst/paper", "model.classifier.input_dim", 4 * 2 * 300, PARTS),
    # IMDB takes SST's.
    ("imdb/elmo", f"{PENALTY}.0.1.alpha", 0.001, f"{PETERS}, A.8"),
    # Pre-training. bilm-tf's loss is 20 times ours, which its accumulator and its norm include.
    ("bilm/original", "model.dropout", 0.1, BILM_TF),
    ("bilm/original", "model.bilm.dropout", 0.1, BILM_TF),
    ("bilm/original", "model.num_samples", 8192, BILM_TF),
    ("bilm/original", "data_loader.rows", 128, BILM_TF),
    ("bilm/original", "data_loader.length", 20, BILM_TF),
    ("bilm/original", "trainer.num_epochs", 10, f"{PETERS}, 3.4"),
    ("bilm/original", "trainer.optimizer.lr", 0.2, BILM_TF),
    ("bilm/original", "trainer.optimizer.initial_accumulator_value", 1.0 / 20**2, BILM_TF),
    ("bilm/original", "trainer.grad_norm", 10 / 20, BILM_TF),
    ("bilm/continue", "trainer.num_epochs", 1, f"{PETERS}, A.1"),
    *(
        (name, f"{bilm}.options.{path}", value, source)
        for name, bilm in (
            ("bilm/original", "model.bilm"),
            *(
                (f"{task}/paper", "model.text_embedder.bilm")
                for task in ("coref", "snli", "squad", "srl", "sst")
            ),
            ("ner/paper", "model.text_embedder.bilm"),
        )
        for path, value, source in (
            ("lstm.n_layers", 2, f"{PETERS}, 3.4"),
            ("lstm.dim", 4096, f"{PETERS}, 3.4"),
            ("lstm.projection_dim", 512, f"{PETERS}, 3.4"),
            ("lstm.cell_clip", 3, BILM_TF),
            ("lstm.proj_clip", 3, BILM_TF),
            ("char_cnn.n_highway", 2, f"{PETERS}, 3.4"),
            ("char_cnn.embedding.dim", 16, BILM_TF),
            ("char_cnn.max_characters_per_token", 50, BILM_TF),
            # Ids of 0 to 260 in training, and one more for padding.
            ("char_cnn.n_characters", 262, BILM_TF),
            (
                "char_cnn.filters",
                [[1, 32], [2, 32], [3, 64], [4, 128], [5, 256], [6, 512], [7, 1024]],
                BILM_TF,
            ),
        )
    ),
]


def names(task_or_config: str) -> list[str]:
    if "/" in task_or_config:
        return [task_or_config]
    return [f"{task_or_config}/both", f"{task_or_config}/paper"]


@pytest.mark.parametrize("name", sorted({name for row in SOURCES for name in names(row[0])}))
def test_numbers_are_those_of_their_sources(name: str) -> None:
    evaluated = config(*name.split("/"))
    rows = [row for row in SOURCES if name in names(row[0])]

    found = {path: number_at(path, evaluated) for _, path, _, _ in rows}

    wrong = [
        f"{path} is {found[path]}, and {value} in {source}"
        for _, path, value, source in rows
        if found[path] != value
    ]
    assert not wrong, f"training_configs/{name}.jsonnet: {wrong}"
