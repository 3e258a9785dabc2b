import ipaddress
import re

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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

# A name or address, and a port.
_HOST = re.compile(r"([\w.-]+|\[[0-9a-f:.]+\])(:\d*)?", re.IGNORECASE)


class OwnPageOnly:
    """
    Middleware that keeps pages of other sites out. It sets the headers of all answers. It refuses a
    request with 403 if its `Origin` is another site, or if its `Host` does not name this server. As
    `Host` it accepts `host` (the name that the server listens on), `localhost`, and any IP address.
    This stops DNS rebinding: a page of another site sends that site's name as `Host`, even if the
    name resolves to this machine. Starlette's `TrustedHostMiddleware` needs a list of all
    addresses, and accepts no IPv6 address.
    """

    def __init__(self, app: ASGIApp, host: str) -> None:
        self.app = app
        self.host = host

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        reason = self._foreign(Headers(scope=scope))
        app = JSONResponse({"error": reason}, 403) if reason else self.app
        await app(scope, receive, send_with_headers)

    def _foreign(self, headers: Headers) -> str | None:
        """Returns why a request seems to come from another site's page, or None."""
        host, origin = headers.get("host", ""), headers.get("origin", "")
        if not self._is_own(host):
            return (
                f"this server is not {host[:200]!r}; use its IP address, such as 127.0.0.1, or "
                "localhost"
            )
        if origin and origin.partition("://")[2] != host:
            return f"pages of {origin[:200]!r} may not use this server, only its own page may"
        return None

    def _is_own(self, host: str) -> bool:
        match = _HOST.fullmatch(host)
        name = match[1].strip("[]").lower() if match else ""
        if name in ("localhost", self.host.lower()):
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True
