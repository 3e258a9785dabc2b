import multiprocessing

import spacy
import torch
from spacy.tokens import Doc

from elmo_tasks.spacy.pipes import DocSentence, of_docs, threads_of_this_process


def count_threads(queue: multiprocessing.Queue) -> None:
    torch.set_num_threads(2)
    with threads_of_this_process():
        queue.put(torch.get_num_threads())


def test_only_a_worker_has_one_thread() -> None:
    context = multiprocessing.get_context("fork")
    queue = context.Queue()

    worker = context.Process(target=count_threads, args=(queue,))
    worker.start()

    assert queue.get(timeout=60) == 1
    worker.join()
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    with threads_of_this_process():
        assert torch.get_num_threads() == 2
    torch.set_num_threads(before)


VOCAB = spacy.blank("en").vocab


def test_sentences_have_the_words_and_their_indices_in_the_doc() -> None:
    words = ["It", " ", "works", ".", "\n", "\n", "So"]
    starts = [True, False, False, False, True, True, False]
    first = Doc(VOCAB, words, sent_starts=starts)
    blank, without = Doc(VOCAB, ["\n"]), Doc(VOCAB, ["A", "text", ".", "Another"])

    sentences = list(of_docs([first, blank, without]))

    assert sentences == [
        DocSentence(0, [0, 2, 3], ["It", "works", "."]),
        DocSentence(0, [6], ["So"]),
        DocSentence(2, [0, 1, 2, 3], ["A", "text", ".", "Another"]),
    ]
