"""The connections as they are kept: their order stays, whatever is changed about one of them."""

from dataclasses import replace
from pathlib import Path

from cfbatch_gui.core.connections.credentials import Credentials
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.settings import SavedConnection
from tests.canary import SECRET, TOKEN

ACCOUNT = "0123456789abcdef0123456789abcdef"


async def test_a_connection_that_is_renamed_keeps_its_place(tmp_path: Path) -> None:
    program = await Program.open(tmp_path, environ={}, credentials=Credentials(environ={}))
    await program.connections.save(SavedConnection("", "Berlin", "worker", url="https://b.example"), secret=SECRET)
    await program.connections.save(SavedConnection("", "Lisbon", "cloudflare", account_id=ACCOUNT), secret=TOKEN)
    await program.connections.save_cloudflare(ACCOUNT, TOKEN)
    first = program.address_book.saved()[1]
    await program.connections.save(replace(first, name="Potsdam"))
    assert [each.name for each in program.address_book.saved()] == ["Cloudflare", "Potsdam", "Lisbon"]
    await program.close()
    program = await Program.open(tmp_path, environ={}, credentials=Credentials(environ={}))
    assert [each.title for each in await program.connections.summaries()][1:] == ["Cloudflare", "Potsdam", "Lisbon"]
    assert program.address_book.saved()[1].id == first.id
    await program.close()
