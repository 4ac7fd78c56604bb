from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job
from cfbatch_gui.core.jobs.store.ledger import Ledger
from cfbatch_gui.core.system.paths import Paths
from tests.core.results.folders import Pair, Table
from tests.journeys.terminal import Terminal
from tests.support.faulty_service import ThreadedService


def keep_job(paths: Paths, name: str, pairs: list[Pair], *, title: str = "", kind: Kind = Kind.RANK) -> None:
    """A finished job with these results."""
    paths.create()
    Table(paths.job(name)).rank(pairs)
    size, queries = len(pairs), len({pair.query for pair in pairs})
    job = Job(name, title or name, kind, "@cf/baai/bge-m3", "practice", 1.0, is_sent=True, rows_in=size, texts=size)
    with closing(Ledger.open(paths)) as ledger:
        ledger.put(job, [Batch(name, 1, BatchState.DONE, queries, size, 1000)])


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return Paths(tmp_path / "data")


@pytest.fixture
def terminal(paths: Paths) -> Terminal:
    return Terminal(paths.root, {"COLUMNS": "80"})


@pytest.fixture
def service(tmp_path: Path) -> Iterator[ThreadedService]:
    """An account's service, which can be told to fail."""
    with ThreadedService(tmp_path / "service").opened() as service:
        yield service


@pytest.fixture
def connected(terminal: Terminal, service: ThreadedService) -> Terminal:
    """The terminal with an account."""
    terminal.connect(service.url)
    return terminal
