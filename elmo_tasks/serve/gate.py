import asyncio
import ipaddress
import json
import re
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, NamedTuple

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

# With these, a browser loads nothing from other machines, and no other page can frame this page.
_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}
# Swagger's page sets styles in its HTML.
_DOCS_POLICY = _HEADERS["content-security-policy"].replace(
    "style-src 'self'", "style-src 'self' 'unsafe-inline'"
)

# A name or address, and a port.
_HOST = re.compile(r"([\w.-]+|\[[0-9a-f:.]+\])(:\d*)?", re.IGNORECASE)

_CLOSE = {"connection": "close"}

# If a body is over the limit, up to this many times the limit is still read before the answer,
# because many clients read no answer before they have sent everything.
_PATIENCE = 64


class Limits(NamedTuple):
    """
    The limits of the server.

    # Parameters

    max_bytes: The largest body of a request.
    max_words: The most words and punctuation marks of a request.
    max_requests: The most requests at a time, including requests that wait for the model.
    seconds: The time in which a client must have sent the body of a request.
    """

    max_bytes: int = 256 * 1024
    max_words: int = 5000
    max_requests: int = 256
    seconds: float = 10.0


class Gate:
    """
    ASGI middleware. It refuses requests that the server should not work on, reads the bodies of the
    other requests, and sets headers that keep pages of other sites out.

    A request is refused with
    - 400 if it gives the length of its body in two ways;
    - 403 if its `Host` is not a name of the server, or its `Origin` is another site;
    - 408 if its body comes too slowly;
    - 413 if its body is too large;
    - 503 if the server is stopping.

    # Parameters

    host: The name or address that the server listens on. IP addresses and `localhost` always count
        as names of the server, because they cannot be the host of another site's page.
    """

    def __init__(self, app: App, host: str, limits: Limits) -> None:
        self.app = app
        self.host = host
        self.limits = limits

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        answer, headers = _Answer(scope["path"], send), dict(scope["headers"])
        if reason := self._foreign(headers):
            await refuse(answer, 403, reason)
            return
        if b"content-length" in headers and b"transfer-encoding" in headers:
            # A proxy and the server could disagree about where the next request begins.
            reason = "the request has both a Content-Length and a Transfer-Encoding"
            await refuse(answer, 400, reason, _CLOSE)
            return
        try:
            body = await self._body(receive, answer)
            if body is not None:
                await self.app(scope, _replay(body, receive), answer)
        except asyncio.CancelledError:
            # Only a server that is stopping cancels a request.
            if not answer.started:
                await refuse(answer, 503, "the server stops", _CLOSE)

    def _foreign(self, headers: dict[bytes, bytes]) -> str | None:
        """Returns why a request seems to come from another site's page, or None."""
        host = headers.get(b"host", b"").decode("latin-1")
        if not self._is_own(host):
            return (
                f"this server is not {host[:200]!r}; use its IP address, such as 127.0.0.1, or "
                "localhost"
            )
        origin = headers.get(b"origin", b"").decode("latin-1")
        if origin and origin.partition("://")[2] != host:
            return f"pages of {origin[:200]!r} may not use this server, only its own page may"
        return None

    def _is_own(self, host: str) -> bool:
        match = _HOST.fullmatch(host)
        name = match[1].strip("[]").lower() if match else ""
        return name in ("localhost", self.host.lower()) or _is_address(name)

    async def _body(self, receive: Receive, answer: Send) -> bytes | None:
        """Returns the body, or None if the request was refused or the client has gone."""
        reading = _read(receive, self.limits.max_bytes)
        try:
            return await asyncio.wait_for(reading, self.limits.seconds)
        except _GoneError:
            return None
        except TimeoutError:
            reason = f"the request was not complete after {self.limits.seconds:g} seconds"
            await refuse(answer, 408, reason, _CLOSE)
        except _TooLargeError:
            reason = f"the body has more than {self.limits.max_bytes:,} bytes, the most it may have"
            await refuse(answer, 413, reason, _CLOSE)
        return None


class _Answer:
    """
    Sends an answer with the headers that all answers have. Knows whether the answer was `started`.
    """

    def __init__(self, path: str, send: Send) -> None:
        policy = {"content-security-policy": _DOCS_POLICY} if path == "/docs" else {}
        self.headers = _encoded({**_HEADERS, **policy})
        self.send = send
        self.started = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.started = True
            message = {**message, "headers": [*message.get("headers", []), *self.headers]}
        await self.send(message)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


async def refuse(
    send: Send, status: int, reason: str, headers: dict[str, str] | None = None
) -> None:
    """Answers `{"error": reason}`."""
    body = json.dumps({"error": reason}).encode()
    encoded = _encoded(
        {
            "content-type": "application/json",
            "content-length": str(len(body)),
            **(headers or {}),
        }
    )
    await send({"type": "http.response.start", "status": status, "headers": encoded})
    await send({"type": "http.response.body", "body": body})


def _encoded(headers: dict[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode(), value.encode()) for name, value in headers.items()]


class _GoneError(Exception):
    pass


class _TooLargeError(Exception):
    pass


async def _read(receive: Receive, max_bytes: int) -> bytes:
    body, size, more = b"", 0, True
    while more and size <= _PATIENCE * max_bytes:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise _GoneError
        part = message.get("body", b"")
        more, size = message.get("more_body", False), size + len(part)
        if size <= max_bytes:
            body += part
    if size > max_bytes:
        raise _TooLargeError
    return body


def _replay(body: bytes, receive: Receive) -> Receive:
    """Returns a `receive` that gives the whole body first, and then what the client sends."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replayed() -> Message:
        return messages.pop() if messages else await receive()

    return replayed
