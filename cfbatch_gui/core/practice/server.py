"""The practice service on a loopback port: in this thread for the command, in one of its own for tests."""

import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

import uvicorn

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.practice.app import Application, for_own_hosts, practice_app
from cfbatch_gui.core.practice.local_models import PracticeModel, choose_model
from cfbatch_gui.core.practice.loopback import HOST, listen
from cfbatch_gui.core.practice.routes import PREFIX
from cfbatch_gui.core.practice.vectorize.service import Permission

_START_SECONDS = 30.0
_GRACE_SECONDS = 3


def serve(app: Application, port: int, *, listening: Callable[[str], None] | None = None) -> None:
    """Serve on 127.0.0.1 until Ctrl+C, which arrives as KeyboardInterrupt once everything is closed.

    `port` 0 takes a free one. `listening` is called with the address, prefix included, before the first request.
    Requests that name another host are refused. Raises UsageError when the port cannot be had. Prints nothing.
    """
    with _listen(port) as listener:
        if listening is not None:
            listening(_url(listener))
        port_taken = int(listener.getsockname()[1])
        _server(for_own_hosts(app, lambda: port_taken)).run(sockets=[listener])


class PracticeServer:
    """A practice service that runs in its own thread during a `with` block. `url` ends in /client/v4.

    Requests may name any host: what is tested against it may reach it through a proxy or a Worker.
    """

    def __init__(
        self,
        folder: Path,
        *,
        seconds_queued: float = 0.0,
        seconds_running: float = 0.0,
        seconds_mutating: float = 0.0,
        clock: Callable[[], float] = time.time,
        token: str = "",
        vectorize_permission: Permission = Permission.WRITE,
        load_model: Callable[[], PracticeModel] = choose_model,
        port: int = 0,
    ) -> None:
        self._app = practice_app(
            folder,
            seconds_queued=seconds_queued,
            seconds_running=seconds_running,
            seconds_mutating=seconds_mutating,
            clock=clock,
            token=token,
            vectorize_permission=vectorize_permission,
            load_model=load_model,
        )
        self._port = port
        self.url = ""

    def __enter__(self) -> Self:
        self._listener = _listen(self._port)
        self.url = _url(self._listener)
        self._server = _server(self._app)
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [self._listener]}, name="practice service", daemon=True
        )
        self._thread.start()
        if not self._server.ready.wait(_START_SECONDS):
            raise RuntimeError("the practice service did not start")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.should_exit = True
        self._thread.join()
        self._listener.close()


class _Server(uvicorn.Server):
    """uvicorn's server with an event that is set when it accepts requests."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to listen."""
        await super().startup(sockets)
        self.ready.set()


def _server(app: Application) -> _Server:
    """uvicorn without its own logging: an access log would be another file with users' data."""
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
    return _Server(config)


def _listen(port: int) -> socket.socket:
    try:
        return listen(port)
    except OSError as problem:
        raise UsageError(
            message(
                "Port {port} on this computer cannot be used. Another program may be listening there; choose "
                "another port, or 0 for any free one.",
                port=port,
            ),
            detail=f"{HOST}:{port}: {problem.strerror}",
        ) from problem


def _url(listener: socket.socket) -> str:
    return f"http://{HOST}:{listener.getsockname()[1]}{PREFIX}"
