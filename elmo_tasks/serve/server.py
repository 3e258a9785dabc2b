import asyncio
import ipaddress
import socket
from typing import Any

import uvicorn
from starlette.applications import Starlette

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.serve.answering import Limits

# The seconds that a stopping server has for the answers that it is computing, and for everything.
_COMPUTED, _ALL = 2, 3


def listen(host: str, port: int) -> socket.socket:
    """
    Returns a socket that listens on a name or address and a port; with port 0, on a free port.
    Raises `ConfigurationError` if the server cannot listen there.
    """
    try:
        family, *_, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listening = socket.create_server(address[:2], family=family, backlog=512)
        # The head and the body of an answer are sent one after the other. Without this, the body
        # waits up to 40 ms until the client has acknowledged the head.
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listening
    except (OSError, OverflowError) as error:
        raise ConfigurationError(
            f"the server cannot listen on {host}, port {port} ({error}); choose another --port, "
            "or --port 0 for a free one"
        ) from error


def address_of(listening: socket.socket) -> str:
    """Returns the address of the page."""
    host, port = listening.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


def is_loopback(listening: socket.socket) -> bool:
    """Returns whether only this machine can reach the socket."""
    return ipaddress.ip_address(listening.getsockname()[0].partition("%")[0]).is_loopback


class _Server(uvicorn.Server):
    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        app: Any = self.config.app
        stopping = asyncio.create_task(app.state.worker.stop(_COMPUTED))
        await super().shutdown(sockets)
        await stopping


def make_server(app: Starlette, limits: Limits = Limits()) -> uvicorn.Server:
    """
    Makes the server of an application of `make_app`. Its `run(sockets=[...])` runs until SIGINT or
    SIGTERM. Then it refuses the waiting requests, and gives the requests in progress two seconds to
    be answered. At last it raises the signal again.
    """
    config = uvicorn.Config(
        app,
        ws="none",
        lifespan="off",
        # uvicorn's own configuration would close the log files that this process has open.
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        # uvicorn refuses connections above this number, which includes idle ones.
        limit_concurrency=2 * limits.max_requests,
        timeout_graceful_shutdown=_ALL,
    )
    return _Server(config)
