from elmo_tasks.embed.parts import cut


def test_parts_follow_each_other_and_keep_the_indices() -> None:
    sentences = [["w"] * (index % 5) for index in range(40)]

    parts = list(cut(iter(sentences), 10, ".hdf5"))

    assert [part.index for part in parts] == list(range(len(parts)))
    pairs = [pair for part in parts for pair in zip(part.ids, part.sentences)]
    assert pairs == list(enumerate(sentences))
    for part in parts[:-1]:
        *others, last = part.sentences
        size = part.num_tokens + len(part.sentences)
        assert size >= 10 > size - len(last) - 1
    assert sum(part.num_tokens for part in parts) == 80
