from typing import NamedTuple


class Limits(NamedTuple):
    """
    The limits of the server.

    # Parameters

    max_bytes: The largest body of a request.
    max_words: The most words and punctuation marks of a request.
    max_requests: The most requests that wait for an answer.
    seconds: The time in which a client must have sent the body of a request.
    """

    max_bytes: int = 256 * 1024
    max_words: int = 5000
    max_requests: int = 256
    seconds: float = 10.0
