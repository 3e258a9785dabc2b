import asyncio
import json

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from elmo_tasks.serve.gate import Message, Receive, Send, refuse

# Seconds in which a client must have sent the head of a request.
HEAD_SECONDS = 10.0

# Seconds in which a client must have read most of an answer.
ANSWER_SECONDS = 60.0


class TimedProtocol(H11Protocol):
    """
    uvicorn's HTTP protocol with two time limits: for a client to send the head of a request, and to
    read an answer. uvicorn itself waits for ever for a client that sends a few bytes now and then,
    and keeps answers that a client does not read. uvicorn's refusals become JSON in place of plain
    text.
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

    def handle_events(self) -> None:
        most = self.config.limit_concurrency
        assert most is not None
        # At most this many requests may wait for an answer, and as many clients may send or read.
        full = len(self.tasks) >= most or len(self.connections) > 2 * most
        self.app = _full if full else self.config.loaded_app
        self.limit_concurrency = None
        super().handle_events()

    def send_400_response(self, msg: str) -> None:
        self._refuse("400 Bad Request", "the request is not HTTP, or damaged")

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        self._stop_reading()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Is called when the client has left so much unread that no more should be sent."""
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
            reason = "the head of the request did not come in time"
            self._timer = self.loop.call_later(
                HEAD_SECONDS, self._refuse, "408 Request Timeout", reason
            )

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _refuse(self, status: str, reason: str) -> None:
        """Answers without h11, because h11 does not answer a request that it cannot read."""
        if not self.transport.is_closing():
            body = json.dumps({"error": reason})
            self.transport.write(
                f"HTTP/1.1 {status}\r\nconnection: close\r\ncontent-type: application/json\r\n"
                f"content-length: {len(body)}\r\n\r\n{body}".encode()
            )
            self.transport.close()


async def _full(scope: Message, receive: Receive, send: Send) -> None:
    reason = "the server has too many requests to answer already; try again"
    await refuse(send, 503, reason, {"retry-after": "1", "connection": "close"})
