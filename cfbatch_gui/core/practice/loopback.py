"""The loopback socket that the practice service listens on."""

import socket
from typing import Final

HOST: Final = "127.0.0.1"


def listen(port: int, *, backlog: int = 128) -> socket.socket:
    """A listening socket on HOST; `port` 0 takes a free one. Raises OSError when the port cannot be had.

    Accepted connections inherit TCP_NODELAY. asyncio sets it only on sockets that name TCP as their protocol, which
    those of `create_server` do not: the body of an answer would wait 40 ms for the acknowledgement of its headers.
    """
    listener = socket.create_server((HOST, port), backlog=backlog)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener
