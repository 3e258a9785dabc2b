import multiprocessing

import spacy
import torch
from spacy.tokens import Doc

from elmo_tasks.spacy.pipes import DocSentence, of_docs, threads_of_this_process


def multiply() -> None:
    with threads_of_this_process():
        torch.ones(1000, 1000) @ torch.ones(1000, 1000)


def count_threads(queue: multiprocessing.Queue) -> None:
    torch.set_num_threads(2)
    with threads_of_this_process():
        queue.put(torch.get_num_threads())


def test_a_fork_of_a_process_with_threads_does_not_wait_for_them() -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        multiply()
        fork = multiprocessing.get_context("fork").Process(target=multiply)
        fork.start()
        fork.join(60)
        ended = fork.exitcode == 0
        fork.kill()
    finally:
        torch.set_num_threads(before)

    assert ended


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
