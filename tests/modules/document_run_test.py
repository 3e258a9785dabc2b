from elmo_tasks.modules.document_run import DocumentRun

SENTENCES = [["a", "b"], ["c"], ["d", "e", "f"], ["g"]]


def test_part_has_the_words_speakers_and_clusters_of_its_sentences() -> None:
    clusters = [[(0, 1), (3, 5), (6, 7)], [(2, 3), (3, 6), (4, 5)], [(0, 2), (2, 3)]]
    run = DocumentRun.of(SENTENCES, list("ABCDEFG"), clusters)

    part = run.part(1, 3)

    assert run == DocumentRun(0, [2, 1, 3, 1], list("ABCDEFG"), clusters)
    assert (run.start, run.stop) == (0, 7)
    # Only one mention remains of the first cluster, and one of the third.
    assert part == DocumentRun(2, [1, 3], list("CDEF"), [[(0, 1), (1, 4), (2, 3)]])
    assert (part.start, part.stop) == (2, 6)


def test_clusters_that_are_not_known_stay_so() -> None:
    run = DocumentRun.of(SENTENCES, [""] * 7, None)

    assert run.part(0, 1) == DocumentRun(0, [2], ["", ""], None)
