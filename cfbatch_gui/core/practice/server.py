"""The practice service on a loopback port."""

import socket
from collections.abc import Callable

import uvicorn

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.practice.app import HOST, PREFIX, Application, for_own_hosts

_GRACE_SECONDS = 3


def serve(app: Application, port: int, *, listening: Callable[[str], None]) -> None:
    """Serve on 127.0.0.1 until Ctrl+C, which arrives as KeyboardInterrupt once everything is closed.

    `port` 0 takes a free one. `listening` is called with the address, prefix included. Raises UsageError when the
    port cannot be had.
    """
    try:
        listener = listen(port)
    except OSError as problem:
        raise UsageError(
            message("port_port_on_computer_cannot_be", port=port), detail=f"{HOST}:{port}: {problem.strerror}"
        ) from problem
    with listener:
        port_taken = int(listener.getsockname()[1])
        listening(f"http://{HOST}:{port_taken}{PREFIX}")
        server_of(for_own_hosts(app, port_taken)).run(sockets=[listener])


def server_of(app: Application) -> uvicorn.Server:
    """uvicorn without its own logging, which would be another file with users' data."""
    config = uvicorn.Config(
        app,
        loop="asyncio",
        http="h11",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )
    return uvicorn.Server(config)


def listen(port: int) -> socket.socket:
    """A listening socket on HOST; `port` 0 takes a free one. Raises OSError.

    Accepted connections inherit TCP_NODELAY, which asyncio does not set on sockets of `create_server`: the body of
    an answer would wait 40 ms for the acknowledgement of its headers.
    """
    listener = socket.create_server((HOST, port), backlog=128)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener
