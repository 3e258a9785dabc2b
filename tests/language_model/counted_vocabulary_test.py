import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from allennlp.common import Params
from allennlp.data import DatasetReader, Instance, Vocabulary

from elmo_tasks.language_model.counted_vocabulary import CountedVocabulary
from elmo_tasks.language_model.loaders import SentenceLoader
from elmo_tasks.readers.sentences import SentencesReader

FIXTURE = Path(__file__).parents[2] / "fixtures" / "corpus" / "train.txt"
LINES = [line.split() for line in FIXTURE.read_text(encoding="utf-8").splitlines()]
COUNTS = Counter(word for words in LINES for word in words)


def instances(path: Path = FIXTURE) -> Iterable[Instance]:
    return SentenceLoader(SentencesReader(), str(path)).iter_instances()


def from_params(folder: Path | None = None, **params: Any) -> CountedVocabulary:
    extras = {"serialization_dir": str(folder)} if folder else {}
    of_instances = params.pop("instances", None) or instances()
    params = {"type": "elmo_counted", **params}
    return Vocabulary.from_params(Params(params), instances=of_instances, **extras)


def words_of(vocab: Vocabulary) -> list[str]:
    words = vocab.get_index_to_token_vocabulary("tokens")
    return [words[index] for index in range(len(words))]


def test_it_equals_allennlps_of_the_readers_instances() -> None:
    read = DatasetReader.from_params(Params({"type": "elmo_sentences"})).read(str(FIXTURE))

    assert words_of(from_params()) == words_of(Vocabulary.from_instances(read))


def test_rare_words_count_too() -> None:
    for vocab in (from_params(min_count={"tokens": 5}), from_params(max_vocab_size=10)):
        assert vocab.num_sentences == len(LINES)
        assert vocab.num_tokens == sum(COUNTS.values())


def test_counts_are_saved_and_loaded(tmp_path: Path) -> None:
    vocab = from_params()
    vocab.save_to_files(str(tmp_path))

    loaded = CountedVocabulary.from_files(str(tmp_path))

    assert words_of(loaded) == words_of(vocab)
    assert loaded.num_sentences == len(LINES) and loaded.num_tokens == sum(COUNTS.values())
    # AllenNLP's own class can read the folder too.
    assert words_of(Vocabulary.from_files(str(tmp_path))) == words_of(vocab)


def test_a_recovered_training_has_the_words_it_had_and_reads_no_text(tmp_path: Path) -> None:
    def text_that_must_not_be_read() -> Iterator[Instance]:
        raise AssertionError
        yield

    first = from_params(tmp_path, min_count={"tokens": 3})
    first.save_to_files(str(tmp_path / "vocabulary"))

    recovered = from_params(tmp_path, instances=text_that_must_not_be_read())

    assert words_of(recovered) == words_of(first)
    assert recovered.num_sentences == len(LINES)


def test_words_saved_in_part_are_made_anew(tmp_path: Path) -> None:
    first = from_params(tmp_path)
    first.save_to_files(str(tmp_path / "vocabulary"))
    (tmp_path / "vocabulary" / "tokens.txt").write_text("@@UNKNOWN@@\n")
    (tmp_path / "vocabulary" / ".counts.json").unlink()

    assert words_of(from_params(tmp_path)) == words_of(first)


def test_words_of_another_training_are_taken_as_they_are_and_the_text_counted(
    tmp_path: Path,
) -> None:
    from_params().save_to_files(str(tmp_path / "first"))
    other = tmp_path / "other.txt"
    other.write_text("The ferry and something else\n")

    vocab = from_params(
        tmp_path / "second", directory=str(tmp_path / "first"), instances=instances(other)
    )

    assert words_of(vocab) == words_of(from_params())
    assert (vocab.num_sentences, vocab.num_tokens) == (1, 5)


def test_counts_are_of_text_alone(tmp_path: Path) -> None:
    """The vocabulary of another task has no counts, nor has one that AllenNLP wrote."""
    Vocabulary(tokens_to_add={"tokens": ["a"]}).save_to_files(str(tmp_path / "theirs"))
    assert CountedVocabulary.from_files(str(tmp_path / "theirs")).num_tokens is None
    vocab = CountedVocabulary(tokens_to_add={"tokens": ["a"]})
    vocab.save_to_files(str(tmp_path / "own"))

    counts = json.loads((tmp_path / "own" / ".counts.json").read_text())
    assert counts == {"sentences": None, "tokens": None}
    assert CountedVocabulary.from_files(str(tmp_path / "own")).num_sentences is None
