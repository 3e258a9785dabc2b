import os
from typing import Union

from allennlp.data import Vocabulary
from allennlp.data.vocabulary import DEFAULT_OOV_TOKEN, DEFAULT_PADDING_TOKEN

from elmo_tasks.common.processes import rank
from elmo_tasks.language_model.counted_vocabulary import CountedVocabulary, counts_path


@Vocabulary.register("from_files", constructor="of_training", exist_ok=True)
class SavedVocabulary(Vocabulary):
    """
    Loads a vocabulary as AllenNLP's `from_files` does. In a distributed training, where AllenNLP
    gives each process the vocabulary by this type, a vocabulary with counts becomes a
    `CountedVocabulary`.
    """

    @classmethod
    def of_training(
        cls,
        directory: Union[str, os.PathLike],
        padding_token: str = DEFAULT_PADDING_TOKEN,
        oov_token: str = DEFAULT_OOV_TOKEN,
    ) -> Vocabulary:
        is_counted = rank().num_processes > 1 and counts_path(directory).exists()
        kind = CountedVocabulary if is_counted else Vocabulary
        return kind.from_files(directory, padding_token, oov_token)
