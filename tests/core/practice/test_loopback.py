"""The socket that the practice service listens on."""

import socket

from cfbatch_gui.core.practice.server import HOST, listen


def test_the_body_of_an_answer_does_not_wait_for_the_acknowledgement_of_its_headers() -> None:
    with listen(0) as listener, socket.create_connection((HOST, listener.getsockname()[1])):
        accepted, _ = listener.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
