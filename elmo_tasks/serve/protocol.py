import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

# Seconds in which a client must have sent the head of a request.
HEAD_SECONDS = 10.0

# Seconds in which a client must have read most of an answer.
ANSWER_SECONDS = 60.0

_BODY = b'{"error": "the head of the request did not come in time"}'
_TOO_SLOW = (
    b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-type: application/json\r\n"
    b"content-length: %d\r\n\r\n%s" % (len(_BODY), _BODY)
)


class TimedProtocol(H11Protocol):
    """
    uvicorn's HTTP, with a time limit for the head of a request and one for reading an answer.
    uvicorn itself waits for ever on a client that sends a few bytes now and then, and keeps the
    answers that a client does not read.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._timer: asyncio.TimerHandle | None = None
        self._reading: asyncio.TimerHandle | None = None
        super().connection_made(transport)
        self._start_timer()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is h11.IDLE:
            self._start_timer()
        else:
            self._stop_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        self._stop_reading()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Is called when the client has left so much unread that no more should be written."""
        super().pause_writing()
        self._reading = self.loop.call_later(ANSWER_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        self._stop_reading()
        super().resume_writing()

    def _stop_reading(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None

    def _start_timer(self) -> None:
        if self._timer is None:
            self._timer = self.loop.call_later(HEAD_SECONDS, self._give_up)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _give_up(self) -> None:
        if not self.transport.is_closing():
            self.transport.write(_TOO_SLOW)
            self.transport.close()
