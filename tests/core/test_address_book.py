"""The connections as they are kept: their order stays, whatever is changed about one of them."""

from pathlib import Path

import pytest

from cfbatch_gui.core.connections.address_book import PRACTICE_SECONDS_VARIABLE
from cfbatch_gui.core.connections.credentials import Credentials
from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.settings import SavedConnection
from cfbatch_gui.core.workers_ai.connection_kinds import PRACTICE, title_of
from tests.canary import SECRET
from tests.support.sentences import refuses

ACCOUNT = "0123456789abcdef0123456789abcdef"


async def test_a_service_on_this_computer_is_polled_as_soon_as_the_practice_service(tmp_path: Path) -> None:
    program = await Program.open(tmp_path, environ={}, credentials=Credentials(environ={}))
    for name, url in (("near", "http://127.0.0.1:8787"), ("far", "https://b.example")):
        await program.connections.save(SavedConnection("", name, "worker", url=url), secret=SECRET)
    near, far = (program.address_book.connection(each.id) for each in program.address_book.saved()[1:])
    await program.close()
    assert near.first_check == PRACTICE.first_check
    assert far.first_check > near.first_check


@pytest.mark.parametrize("seconds", ["soon", "-1", "nan", "inf"])
async def test_practice_seconds_that_are_none_are_refused(tmp_path: Path, seconds: str) -> None:
    environ = {PRACTICE_SECONDS_VARIABLE: seconds}
    program = await Program.open(tmp_path, environ=environ, credentials=Credentials(environ={}))
    with refuses(UsageError, "variable_must_be_number_seconds_such"):
        program.address_book.client(PRACTICE.id)
    await program.close()


def test_a_connection_that_was_removed_is_never_called_by_its_id() -> None:
    saved = (SavedConnection("k3m8q2zx", "My Worker", "worker"),)
    assert title_of(saved, "k3m8q2zx") == "My Worker"
    assert getattr(title_of((), "k3m8q2zx"), "code", "") == "connection_was_removed"
