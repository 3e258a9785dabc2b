"""Reads the words and tags of a JSON object: lists of tokens and tags, or a text and its spans."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from allennlp.data.tokenizers import Token

from elmo_tasks.readers.entities import Entity, write_tags

# Names of a list of words.
_TOKENS = ("tokens", "words")
# Names of a list with the annotations of Label Studio, one of each annotator.
_ANNOTATIONS = ("annotations", "completions")

Tokenize = Callable[[str], list[Token]]


class MisplacedSpan(ValueError):
    """
    Raised for a span that no tags can mark, because it cuts a word or overlaps with another span.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)


class TaggedWords(NamedTuple):
    """
    The words of a record and their tags. `with_blanks` has the texts of spans that begin or end
    with a blank in the file.
    """

    words: list[str]
    tags: list[str]
    with_blanks: Sequence[str] = ()


def tagged_words(values: dict[str, Any], column: str, tokenize: Tokenize) -> TaggedWords:
    """
    Returns the words of a record and their tags. The field `column` has a tag for each of the
    `tokens`, or the spans of a `text` in characters, which become tags in BIO. Blanks at the ends
    of a span are dropped. A text without tokens is cut by `tokenize`.

    # Raises

    `MisplacedSpan`: A span does not begin and end with a word, or overlaps with another span.
    `ValueError`: The record has another form.
    """
    words: Any = next((values[name] for name in _TOKENS if _are_words(values.get(name))), None)
    tags: Any = values.get(column)
    if words and isinstance(tags, list) and tags and all(isinstance(tag, int) for tag in tags):
        raise ValueError(
            f"{column} has numbers, {tags!r:.40}, and the file does not name them: write the "
            f"names (a dataset of Hugging Face has them in features[{column!r}]), or save the "
            "dataset with to_parquet, which keeps them"
        )
    if words and _are_words(tags):
        if len(words) != len(tags):
            raise ValueError(f"there are {len(words)} tokens, but {len(tags)} values of {column}")
        return TaggedWords(words, tags)
    text = text_of_record(values)
    spans = _spans_of(values, column)
    if text is None or spans is None:
        raise ValueError(
            f'expected an object with "tokens" and "{column}", two lists of equal length, or with '
            f'"text" and "{column}", a list of spans, but got {values!r:.200}'
        )
    tokens = _tokens_of_prodigy(values.get("tokens"), text) or tokenize(text)
    words = [token.ensure_text() for token in tokens]
    parts = [_parts(span) for span in spans]
    entities = sorted((_entity(*part, tokens, text) for part in parts), key=lambda span: span.start)
    for first, second in zip(entities, entities[1:]):
        if second.start < first.end:
            raise MisplacedSpan(
                f"two spans overlap: {' '.join(words[first.start : first.end])!r:.80} and "
                f"{' '.join(words[second.start : second.end])!r:.80}"
            )
    span_texts = [text[start:end] for start, end, _ in parts]
    with_blanks = [span_text for span_text in span_texts if span_text != span_text.strip()]
    return TaggedWords(words, write_tags(entities, len(words), "BIO"), with_blanks)


def text_of_record(values: dict[str, Any]) -> str | None:
    """Returns the text of a record or of a task of Label Studio, or `None` if it has no text."""
    data = values.get("data")
    if isinstance(data, dict) and any(name in values for name in _ANNOTATIONS):
        texts = [value for value in data.values() if isinstance(value, str)]
        text = data.get("text", texts[0] if len(texts) == 1 else None)
    else:
        text = values.get("text")
    return text if isinstance(text, str) else None


def annotations_of_task(values: dict[str, Any], column: str) -> list[dict[str, Any]] | None:
    """
    Returns the annotations of a task of Label Studio that their annotators did not skip, or `None`
    if the record is no such task.
    """
    annotations = values.get(column)
    if not isinstance(values.get("data"), dict) or column not in _ANNOTATIONS:
        return None
    return [
        annotation
        for annotation in (annotations if isinstance(annotations, list) else [])
        if isinstance(annotation, dict) and not annotation.get("was_cancelled")
    ]


def as_input(values: dict[str, Any]) -> dict[str, Any]:
    """
    Returns a record as an input of a predictor. Words in Prodigy's form become the list `tokens`,
    and the text of a task of Label Studio becomes `text`.
    """
    words = next((values[name] for name in _TOKENS if _are_words(values.get(name))), None)
    text = text_of_record(values)
    if words is None and text is not None:
        try:
            tokens = _tokens_of_prodigy(values.get("tokens"), text)
        except ValueError:
            # The text alone is an input.
            tokens = None
        words = [token.ensure_text() for token in tokens] if tokens else None
    if words is not None:
        return {**values, "tokens": words}
    return values if text is None or "sentence" in values else {**values, "text": text}


def _are_words(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(word, str) and word for word in value)


def _spans_of(values: dict[str, Any], column: str) -> list[Any] | None:
    spans = values.get(column)
    annotations = annotations_of_task(values, column)
    if annotations is None:
        return spans if isinstance(spans, list) else None
    results = annotations[0].get("result", []) if annotations else []
    regions = (region.get("value", {}) for region in results if isinstance(region, dict))
    return [region for region in regions if "labels" in region]


def _tokens_of_prodigy(value: Any, text: str) -> list[Token] | None:
    """Returns Prodigy's tokens, which are objects, with their offsets in the text."""
    if not isinstance(value, list) or not value:
        return None
    tokens: list[Token] = []
    end = 0
    for item in value:
        if not (isinstance(item, dict) and isinstance(item.get("text"), str) and item["text"]):
            return None
        word = item["text"]
        start = item.get("start", text.find(word, end))
        end = start + len(word)
        if text[start:end] != word:
            raise ValueError(f"the token {word!r:.80} is not in the text at {start}")
        if word.strip():
            tokens.append(Token(word, idx=start, idx_end=end))
    return tokens


def _entity(start: int, end: int, label: str, tokens: Sequence[Token], text: str) -> Entity:
    span_text = text[max(start, 0) : max(end, 0)]
    start, end = start + len(span_text) - len(span_text.lstrip()), end - _num_blanks(span_text)
    starts = {token.idx: index for index, token in enumerate(tokens)}
    ends = {token.idx_end: index + 1 for index, token in enumerate(tokens)}
    if start not in starts or end not in ends or start >= end:
        raise MisplacedSpan(
            f"the span {start} to {end}, {span_text!r:.80}, does not begin and end with a word"
        )
    return Entity(label, starts[start], ends[end])


def _num_blanks(text: str) -> int:
    """Returns the number of blanks at the end of a text that is not blank."""
    return len(text) - len(text.rstrip()) if text.strip() else 0


def _parts(value: Any) -> tuple[int, int, str]:
    match value:
        case {"start": int(start), "end": int(end), "label": str(label)}:
            pass
        case {"start": int(start), "end": int(end), "labels": [str(label)]}:
            pass
        case {"start_offset": int(start), "end_offset": int(end), "label": str(label)}:
            pass
        case [int(start), int(end), str(label)]:
            pass
        case _:
            raise ValueError(
                'expected a span as {"start": 0, "end": 4, "label": "NAME"} or [0, 4, "NAME"], but '
                f"got {value!r:.80}"
            )
    return start, end, label
