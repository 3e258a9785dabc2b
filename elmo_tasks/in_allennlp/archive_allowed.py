"""
Lists what the config of an archive may ask for: types and arguments that read no file and fetch
nothing. SECURITY.md prints this table.
"""

from allennlp.data import DataLoader, DatasetReader, Vocabulary
from allennlp.evaluation import Evaluator
from allennlp.models import Model

_EVERY_READER = "max_instances manual_distributed_sharding manual_multiprocess_sharding"
_EVERY_CLASSIFIER = "dropout namespace label_namespace num_labels regularizer"
_EMBEDDING = (
    "embedding_dim num_embeddings projection_dim padding_index trainable max_norm norm_type "
    "scale_grad_by_freq sparse vocab_namespace"
)
_CHARACTERS = "byte_encoding lowercase_characters start_tokens end_tokens"
_SINGLE_ID = (
    "namespace lowercase_tokens start_tokens end_tokens feature_name default_value "
    "token_min_padding_length"
)
_FEEDFORWARD = "input_dim num_layers hidden_dims activations dropout"
_ALTERNATING = (
    "input_size hidden_size num_layers recurrent_dropout_probability use_highway "
    "use_input_projection_bias"
)
_AUGMENTED = (
    "input_size hidden_size go_forward recurrent_dropout_probability use_highway "
    "use_input_projection_bias"
)
_STACKED = (
    "input_size hidden_size num_layers recurrent_dropout_probability layer_dropout_probability "
    "use_highway"
)
_RECURRENT = "input_size hidden_size num_layers bias dropout bidirectional"
_BAG = "embedding_dim averaged"

# The allowed types of each class, and the allowed arguments of each type. The arguments of a
# vocabulary are not read, because an archive always has its own vocabulary.
ALLOWED: dict[str, dict[str, str]] = {
    "Model": {
        "basic_classifier": (
            f"text_field_embedder seq2vec_encoder seq2seq_encoder feedforward {_EVERY_CLASSIFIER}"
        ),
        "elmo_bcn": (
            "text_embedder feedforward encoder integrator classifier output_place dropout "
            "regularizer"
        ),
        "elmo_bidaf": (
            "text_embedder encoder residual_encoder start_encoder end_encoder dropout "
            "max_answer_tokens regularizer"
        ),
        "elmo_classifier": "text_embedder encoder feedforward dropout regularizer",
        "elmo_coref": (
            "text_embedder encoder mention_feedforward antecedent_feedforward feature_dim "
            "max_span_width spans_per_word max_antecedents max_training_sentences lexical_dropout "
            "dropout regularizer"
        ),
        "elmo_crf_tagger": "text_embedder encoders dropout regularizer",
        "elmo_esim": (
            "text_embedder encoder projection composer classifier dropout attention_dropout "
            "regularizer"
        ),
        "elmo_language_model": ("bilm num_samples dropout dtype num_softmax_batches regularizer"),
        "elmo_srl_tagger": "text_embedder encoder predicate_dim regularizer",
        "elmo_tagger": "text_embedder encoder dropout regularizer",
        "simple_tagger": (
            "text_field_embedder encoder calculate_span_f1 label_encoding label_namespace "
            "verbose_metrics regularizer"
        ),
    },
    "DatasetReader": {
        "conll2003": (
            "token_indexers tag_label feature_labels convert_to_coding_scheme label_namespace "
            f"{_EVERY_READER}"
        ),
        "elmo_classify": (
            "texts label separator max_tokens max_sentence_tokens language token_indexers "
            + _EVERY_READER
        ),
        "elmo_conll": (
            f"columns tag_column file_scheme scheme token_indexers tokenizer {_EVERY_READER}"
        ),
        "elmo_coref": (
            "columns genre_pattern singletons max_words language token_indexers wrong_mentions "
            + _EVERY_READER
        ),
        "elmo_fraction": f"reader fraction seed {_EVERY_READER}",
        "elmo_sentences": f"max_tokens token_indexers reader fields {_EVERY_READER}",
        "elmo_snli": f"tokens_from token_indexers tokenizer {_EVERY_READER}",
        "elmo_squad": (
            f"max_passage_tokens wrong_answers token_indexers tokenizer {_EVERY_READER}"
        ),
        "elmo_srl": f"columns token_indexers tokenizer {_EVERY_READER}",
        "elmo_sst": f"granularity min_phrase_tokens token_indexers tokenizer {_EVERY_READER}",
        "elmo_tag": f"column spans columns token_indexers language {_EVERY_READER}",
        "sequence_tagging": (f"word_tag_delimiter token_delimiter token_indexers {_EVERY_READER}"),
        "text_classification_json": (
            "token_indexers tokenizer max_sequence_length skip_label_indexing text_key label_key "
            + _EVERY_READER
        ),
    },
    "Vocabulary": dict.fromkeys(
        ["elmo_counted", "empty", "extend", "from_files", "from_instances"], "*"
    ),
    "Tokenizer": {
        "character": _CHARACTERS,
        "elmo_spacy": "language",
        "elmo_splitting": "language",
        "just_spaces": "",
        "letters_digits": "",
        # `language` is not allowed: AllenNLP would import what it names, by default en_core_web_sm.
        "spacy": ("pos_tags parse ner keep_spacy_tokens split_on_spaces start_tokens end_tokens"),
        "whitespace": "",
    },
    "TokenIndexer": {
        "characters": (
            "namespace character_tokenizer start_tokens end_tokens min_padding_length "
            "token_min_padding_length"
        ),
        "elmo_char_ids": "",
        "elmo_characters": "namespace tokens_to_add token_min_padding_length",
        "elmo_folded_id": _SINGLE_ID,
        "elmo_known_case_id": "namespace lowercase_tokens",
        "single_id": _SINGLE_ID,
    },
    "TextFieldEmbedder": {"basic": "token_embedders"},
    "TokenEmbedder": {
        "bag_of_word_counts": "vocab_namespace projection_dim ignore_oov",
        "character_encoding": "embedding encoder dropout",
        "elmo_bilm": "bilm mix",
        "elmo_character_cnn": (
            "embedding_dim num_filters width max_characters dropout vocab_namespace"
        ),
        "elmo_character_encoding": "embedding encoder dropout",
        "elmo_word_vectors": "embedding_dim vocab_namespace",
        "embedding": _EMBEDDING,
        "empty": "",
        "pass_through": "hidden_dim",
    },
    "Seq2SeqEncoder": {
        "alternating_lstm": f"{_ALTERNATING} stateful",
        "augmented_lstm": f"{_AUGMENTED} stateful",
        "compose": "encoders",
        "elmo_alternating_lstm": (
            "input_size hidden_size num_layers recurrent_dropout_probability"
        ),
        "elmo_gru": "input_size hidden_size",
        "elmo_lstm": "input_size hidden_size",
        "feedforward": "feedforward",
        "gated-cnn-encoder": "input_dim layers dropout return_all_layers",
        "gru": f"{_RECURRENT} stateful",
        "lstm": f"{_RECURRENT} stateful",
        "pass_through": "input_dim",
        "rnn": f"{_RECURRENT} nonlinearity stateful",
        "stacked_bidirectional_lstm": f"{_STACKED} stateful",
    },
    "Seq2VecEncoder": {
        "alternating_lstm": _ALTERNATING,
        "augmented_lstm": _AUGMENTED,
        "bag_of_embeddings": _BAG,
        "boe": _BAG,
        "cls_pooler": "embedding_dim cls_is_last_token",
        "cnn": "embedding_dim num_filters ngram_filter_sizes conv_layer_activation output_dim",
        "cnn-highway": (
            "embedding_dim filters num_highway projection_dim activation projection_location "
            "do_layer_norm"
        ),
        "gru": _RECURRENT,
        "lstm": _RECURRENT,
        "rnn": f"{_RECURRENT} nonlinearity",
        "stacked_bidirectional_lstm": _STACKED,
    },
    "Activation": {
        **dict.fromkeys(
            [
                *("gelu", "gelu_fast", "gelu_new", "linear", "log_sigmoid", "mish", "relu"),
                *("relu6", "selu", "sigmoid", "softsign", "swish", "tanh", "tanhshrink"),
            ],
            "",
        ),
        "elu": "alpha",
        "hardtanh": "min_val max_val",
        "leaky_relu": "negative_slope",
        "prelu": "init",
        "softplus": "beta threshold",
        "softshrink": "lambd",
        "threshold": "threshold value",
    },
    "Regularizer": {"l1": "alpha", "l2": "alpha"},
    "DataLoader": {
        "elmo_sentences": "batch_tokens shuffle",
        "elmo_windows": "rows length shuffle",
        "multiprocess": (
            "batch_size drop_last shuffle batch_sampler batches_per_epoch num_workers "
            "max_instances_in_memory start_method cuda_device quiet"
        ),
        "simple": "batch_size shuffle batches_per_epoch quiet",
    },
    "BatchSampler": {
        "bucket": "batch_size sorting_keys padding_noise drop_last shuffle",
        "elmo_repeated": "sampler times",
        "max_tokens_sampler": "max_tokens sorting_keys padding_noise",
    },
    "Evaluator": {"elmo": "cuda_device", "simple": "cuda_device batch_serializer"},
    "Serializer": {"simple": ""},
    # Classes that have no type.
    "": {
        "CharacterTokenizer": _CHARACTERS,
        "ElmoTextEmbedder": "words bilm input_mix output_mix",
        "Embedding": _EMBEDDING,
        "FeedForward": _FEEDFORWARD,
        "Maxout": "input_dim num_layers output_dims pool_sizes dropout",
        "RegularizerApplicator": "regexes",
    },
}

# The fields of a config from which `load_archive` or `evaluate` makes objects, and their classes.
MADE = {
    "dataset_reader": DatasetReader,
    "validation_dataset_reader": DatasetReader,
    "model": Model,
    "vocabulary": Vocabulary,
    "data_loader": DataLoader,
    "validation_data_loader": DataLoader,
    "evaluation": Evaluator,
}

# Fields of a config that only a training reads.
ONLY_TRAINING = frozenset(
    "batch_weight_key datasets_for_vocab_creation ddp_accelerator distributed evaluate_on_test "
    "include_in_archive numpy_seed pytorch_seed random_seed test_data_path train_data_path trainer "
    "type validation_data_path".split()
)

# The largest values of arguments that cost time or memory apart from parameters. AllenNLP's
# feedforward, for example, makes lists of `num_layers` items before its parameters.
MOST = {
    "batches_per_epoch": 100_000,
    "length": 10_000,
    "max_antecedents": 10_000,
    "max_characters": 1000,
    "max_span_width": 1000,
    "min_padding_length": 1000,
    "num_layers": 100,
    "num_workers": 8,
    "rows": 10_000,
    "times": 1000,
    "token_min_padding_length": 1000,
}

# The maximum number of items in a list or object, the maximum number of all items together, and the
# largest number in a list, such as a dilation.
MOST_ITEMS, MOST_OF_ALL, MOST_IN_LIST = 1000, 5000, 10_000
