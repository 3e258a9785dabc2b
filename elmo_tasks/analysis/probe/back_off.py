import os

from elmo_tasks.common.text_files import numbered_lines


def read_back_off(file_path: str | os.PathLike) -> dict[str, str]:
    """
    Reads a tag for each word, such as the first sense of each lemma in WordNet. A line has a word
    or lemma, a tab and a tag. If a word has several lines, the first counts. The file is UTF-8, and
    may be compressed by gzip or xz.

    # Raises

    `ValueError`: A line does not have two columns; the message names file and line.
    """
    tags: dict[str, str] = {}
    for line_number, line in numbered_lines(file_path):
        columns = line.split("\t")
        if len(columns) != 2 or not all(columns):
            raise ValueError(
                f"{file_path}:{line_number}: expected a word, a tab and a tag, but got {line!r}"
            )
        tags.setdefault(*columns)
    return tags
