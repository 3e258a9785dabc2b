import asyncio
import ipaddress
import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

# A browser loads nothing from other machines, and no other page shows this one in a frame.
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

# A body over the limit is read up to this many times the limit before the answer, because many
# clients read no answer before they have sent everything.
_PATIENCE = 64


class Limits(NamedTuple):
    """
    The limits of the server.

    # Parameters

    max_bytes : `int`
        The largest body of a request.
    max_words : `int`
        The most words and punctuation marks of a request.
    max_requests : `int`
        The most requests at a time, those included that wait for the model.
    seconds : `float`
        The time in which a client must have sent the body of a request.
    """

    max_bytes: int = 256 * 1024
    max_words: int = 5000
    max_requests: int = 256
    seconds: float = 10.0


class Guard:
    """
    ASGI middleware that refuses requests which the server should not work on, reads the bodies of
    the others, and sets the headers that keep other sites' pages out.

    A request is refused with 403 if its `Host` is a name that the server does not have, or if its
    `Origin` is another site; with 413 if its body is too large; with 408 if its body comes too
    slowly; and with 503 if there are too many requests.

    # Parameters

    app : `App`
    host : `str`
        The name or address that the server listens on. IP addresses and `localhost` are always
        names of the server, because a page of another site cannot have them as its host.
    limits : `Limits`
    """

    def __init__(self, app: App, host: str, limits: Limits) -> None:
        self.app = app
        self.host = host
        self.limits = limits
        self.num_requests = 0

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        answer = self._sender(scope["path"], send)
        if reason := self._foreign(dict(scope["headers"])):
            await refuse(answer, 403, reason)
            return
        if self.num_requests >= self.limits.max_requests:
            reason = f"the server has {self.num_requests} requests to answer already; try again"
            await refuse(answer, 503, reason, {"retry-after": "1"})
            return
        self.num_requests += 1
        try:
            body = await self._body(receive, answer)
            if body is not None:
                await self.app(scope, _replay(body, receive), answer)
        finally:
            self.num_requests -= 1

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
        try:
            name = urlsplit(f"//{host}").hostname or ""
            if name in ("localhost", self.host.lower()):
                return True
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True

    async def _body(self, receive: Receive, answer: Send) -> bytes | None:
        """Returns the body, or None if the request was refused or the client has gone."""
        reading = _read(receive, self.limits.max_bytes)
        try:
            return await asyncio.wait_for(reading, self.limits.seconds)
        except _GoneError:
            return None
        except TimeoutError:
            reason = f"the request was not complete after {self.limits.seconds:g} seconds"
            await refuse(answer, 408, reason, {"connection": "close"})
        except _TooLargeError:
            reason = f"the body has more than {self.limits.max_bytes:,} bytes, the most it may have"
            await refuse(answer, 413, reason, {"connection": "close"})
        return None

    def _sender(self, path: str, send: Send) -> Send:
        policy = {"content-security-policy": _DOCS_POLICY} if path == "/docs" else {}
        added = [(name.encode(), value.encode()) for name, value in {**_HEADERS, **policy}.items()]

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", []), *added]}
            await send(message)

        return answer


async def refuse(
    send: Send, status: int, reason: str, headers: dict[str, str] | None = None
) -> None:
    """Answers `{"error": reason}`."""
    body = json.dumps({"error": reason}).encode()
    all_headers = {
        "content-type": "application/json",
        "content-length": str(len(body)),
        **(headers or {}),
    }
    encoded = [(name.encode(), value.encode()) for name, value in all_headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": encoded})
    await send({"type": "http.response.body", "body": body})


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
    """Returns a `receive` that gives the whole body first, and then what the client does."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replayed() -> Message:
        return messages.pop() if messages else await receive()

    return replayed
