"""The practice service in a thread, and what the service of a folder has taken, read from its files."""

import sqlite3
import subprocess
import sys
import threading
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import httpx

from cfbatch_gui.core.practice.app import HOST, PREFIX, Application
from cfbatch_gui.core.practice.server import listen, server_of
from tests.canary import TOKEN
from tests.support.vectorize import service_with_indexes

_BEFORE, _AFTER = b'{"result":', b',"success":true,"errors":[],"messages":[]}'  # around an answer of the REST API
_ORDER = "ORDER BY accepted_at, rowid"


class Served:
    """An application that runs in a thread of its own during a `with` block.

    Requests may name any host: what is tested against it may reach it through a proxy or a Worker.
    """

    def __init__(self, app: Application) -> None:
        self._app = app
        self.address = ""

    def __enter__(self) -> Self:
        self._listener = listen(0)
        self.address = f"http://{HOST}:{self._listener.getsockname()[1]}"
        self._server = server_of(self._app)
        run = {"sockets": [self._listener]}
        self._thread = threading.Thread(target=self._server.run, kwargs=run, name="served", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join()
        self._listener.close()


class PracticeServer(Served):
    """A practice service; `url` ends in /client/v4."""

    def __init__(self, folder: Path, **more: Any) -> None:
        super().__init__(service_with_indexes(folder, **more))

    @property
    def url(self) -> str:
        return f"{self.address}{PREFIX}"


@contextmanager
def service_process(folder: Path, seconds: float) -> Iterator[str]:
    """The same in a process of its own, where a batch is queued and then runs so long; its address."""
    command = (sys.executable, "-m", "tests.support.practice", str(folder), str(seconds))
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.terminate()


@dataclass(frozen=True, slots=True)
class Accepted:
    """One batch, or one call without the queue. `sha256` and `size` are of the bytes posted, `accepted_at` is by the
    service's clock.
    """

    request_id: str
    account: str
    model: str
    sha256: str
    size: int
    accepted_at: float


def accepted(folder: Path, *, is_queued: bool = True) -> list[Accepted]:
    """What the practice service of that folder has accepted, oldest first; else the calls that it answered at once."""
    question = "SELECT request_id, account, model, sha256, size, accepted_at FROM accepted WHERE is_queued = ?"
    return [Accepted(*row) for row in _rows(folder / "practice.db", f"{question} {_ORDER}", is_queued)]


def accepted_bodies(folder: Path) -> list[bytes]:
    question = f"SELECT body FROM accepted WHERE body NOT NULL {_ORDER}"
    return [zlib.decompress(body) for (body,) in _rows(folder / "practice.db", question)]


def answer_to(url: str, account: str, model: str, request_id: str) -> bytes:
    """What the service at this address answers for a batch, without what the REST API puts around it."""
    address = f"{url}/accounts/{account}/ai/run/{model}?queueRequest=true"
    headers = {"Authorization": f"Bearer {TOKEN}"}
    answer = httpx.post(address, json={"request_id": request_id}, headers=headers, timeout=60, trust_env=False)
    assert answer.content.startswith(_BEFORE) and answer.content.endswith(_AFTER)
    return answer.content[len(_BEFORE) : -len(_AFTER)]


def _rows(path: Path, question: str, *values: object) -> list[Any]:
    if not path.exists():
        return []
    with closing(sqlite3.connect(path, timeout=30)) as database:
        is_made = database.execute("SELECT 1 FROM sqlite_master").fetchone()  # it may be there before its tables
        return database.execute(question, values).fetchall() if is_made else []


if __name__ == "__main__":  # of `service_process`
    seconds = float(sys.argv[2])
    with PracticeServer(Path(sys.argv[1]), seconds_queued=seconds, seconds_running=seconds) as server:
        print(server.url, flush=True)  # noqa: T201
        sys.stdin.read()
