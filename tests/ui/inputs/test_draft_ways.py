"""Which connection a draft goes through, at once or by the queue, and which models there are to choose from."""

import json
from dataclasses import replace
from pathlib import Path

from cfbatch_gui.core.jobs.states import JobState
from cfbatch_gui.core.system.settings import SavedConnection
from tests.canary import SECRET
from tests.core.endpoints import conftest as stand_ins
from tests.support import faults
from tests.support.faulty_service import FaultyService
from tests.ui.connections import pick, until
from tests.ui.inputs.conftest import DraftDriver


def id_of(driver: DraftDriver, name: str) -> str:
    return driver.program.address_book.find(name)


async def test_a_small_job_is_offered_synchronously_and_comes_back(connected: DraftDriver, questions: Path) -> None:
    await connected.open(questions, connection=id_of(connected, "Berlin"))
    check = connected.page.check
    assert connected.why_not() == "2 queries with 4 texts: an answer in seconds, without the queue."
    assert check.send_button.text() == "Send 1 batch"
    connected.click(check.cure)
    await until(lambda: check.send_button.text() == "Run 2 requests at once" and connected.is_ready())
    connected.click(check.cure)
    await until(lambda: check.send_button.text() == "Send 1 batch" and connected.is_ready())
    connected.click(check.options_button)
    assert check.options.way.isVisible()
    pick(check.options.way, True)
    await until(lambda: check.send_button.text() == "Run 2 requests at once" and connected.is_ready())
    connected.click(check.send_button)
    await until(lambda: connected.sent)
    job = await connected.program.runner.wait(connected.sent[0])
    assert job.state is JobState.DONE and all(batch.at_once for batch in job.batches)


async def test_collecting_in_the_account_is_offered_for_a_worker_and_follows_it(
    connected: DraftDriver, questions: Path
) -> None:
    await connected.open(questions, connection="cloudflare")
    options = connected.page.check.options
    connected.click(connected.page.check.options_button)
    assert not options.account.isVisible()
    worker = id_of(connected, "Berlin")
    connected.page.check.options.choose_connection(worker)
    await until(lambda: options.account.isVisible() and connected.is_ready())
    assert options.account.value() is False and "close this computer" in options.account_about.text()
    saved = next(each for each in connected.program.address_book.saved() if each.id == worker)
    await connected.program.connections.save(replace(saved, collects=True))
    connected.page.refresh_connections()
    await until(options.account.value)
    assert connected.job.options.collect_in_account is None  # as the connection
    for is_on in (False, True):
        pick(options.account, is_on)
        await until(lambda wanted=is_on: connected.job.options.collect_in_account is wanted and connected.is_ready())
        assert options.account.value() is is_on
    connected.click(connected.page.check.cure)  # at once, without the queue: there are no batches to collect
    await until(lambda: not options.account.isVisible())


async def test_a_model_that_took_no_batches_when_checked_is_offered_at_once(
    connected: DraftDriver, many: Path, tmp_path: Path
) -> None:
    refused = json.dumps({"error": {"code": 8007, "message": "This model does not support request queuing"}})
    behind = stand_ins.worker(stand_ins.service(tmp_path / "service"))
    connections = connected.program.connections
    async with FaultyService(behind, [faults.any_reply(on="submit", status=400, body=refused)]) as worker:
        saved = SavedConnection("", "Lisbon", "worker", url=worker.url.removesuffix("/client/v4"))
        lisbon = (await connections.save(saved, secret=SECRET)).id
        await connections.probe(lisbon, connections.plan_probe(lisbon, "@cf/baai/bge-m3"))
        await connected.open(many, connection=lisbon)
        assert "the model took no batches" in connected.notes()
        assert connected.why_not() == "Without the queue, four requests at a time."
        check = connected.page.check
        connected.click(check.cure)
        await until(lambda: check.send_button.text() == "Run 200 requests at once" and connected.is_ready())
        assert "the model took no batches" not in connected.notes()


async def test_models_come_from_the_service_with_their_day(connected: DraftDriver, questions: Path) -> None:
    await connected.open(questions, connection="cloudflare")
    options = connected.page.check.options
    assert not connected.program.connections.models("cloudflare").is_live
    connected.click(connected.page.check.options_button)
    await until(lambda: connected.program.connections.models("cloudflare").is_live)
    await until(lambda: not connected.page.drafts.tasks.running())
    assert options.hint.text().startswith("Models as Cloudflare listed them on 20")
    listed_at = connected.program.connections.models("cloudflare").listed_at
    connected.click(connected.page.check.options_button)
    connected.click(connected.page.check.options_button)
    await until(lambda: not connected.page.drafts.tasks.running())
    assert connected.program.connections.models("cloudflare").listed_at == listed_at  # of today
