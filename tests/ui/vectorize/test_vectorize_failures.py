"""What the page of Vectorize says when the service refuses, forgets or fails, and what it offers then."""

from dataclasses import replace

from cfbatch_gui.core.system.settings import SavedConnection
from cfbatch_gui.core.vectorize.wire import Metric
from tests.support import faults
from tests.support.faulty_service import ThreadedService
from tests.ui.vectorize.conftest import Desk, rows


async def test_a_token_without_the_permission_leads_to_the_connection_and_loses_nothing(
    account: tuple[Desk, ThreadedService],
) -> None:
    desk, service = account
    job = await desk.job("Products", rows(range(25)), "cloudflare")
    await desk.show(job)
    refusal = faults.refusal(on="upload", number=2, times=0, status=403, code=10000, message="Authentication error")
    service.follow(refusal)
    desk.click(desk.page.send_button)
    await desk.until(lambda: desk.page.failure.isVisibleTo(desk.page))
    await desk.idle()
    assert "Vectorize Write" in desk.page.failure.text()
    assert desk.page.progress.line.text() == "10 of 25 vectors were sent."
    opened: list[bool] = []
    desk.notices.connection_wanted.connect(lambda: opened.append(True))
    desk.click(next(link for link in desk.page.failure.links() if link.text() == "Open connection"))
    assert opened == [True]
    service.follow()
    desk.click(desk.page.progress.carry_on_button)
    await desk.until(lambda: desk.parts() == "after")
    assert not desk.page.failure.isVisibleTo(desk.page)


async def test_indexes_that_cannot_be_listed_are_asked_for_again(account: tuple[Desk, ThreadedService]) -> None:
    desk, service = account
    job = await desk.job("Products", rows(range(5)), "cloudflare")
    await desk.program.vectorize.create("cloudflare", "there", 256, Metric.COSINE)
    service.follow(faults.refusal(on="lookup", times=1, status=503, code=7505, message="busy"))
    await desk.show(job)
    assert desk.page.failure.isVisibleTo(desk.page)
    assert desk.page.form.index.choice.count() == 1
    desk.click(next(link for link in desk.page.failure.links() if link.text() == "Try again"))
    await desk.until(lambda: desk.page.form.index.choice.count() == 2)
    assert not desk.page.failure.isVisibleTo(desk.page)


async def test_an_index_that_is_gone_is_said_with_the_way_to_another(account: tuple[Desk, ThreadedService]) -> None:
    desk, service = account
    job = await desk.job("Products", rows(range(12)), "cloudflare")
    await desk.show(job)
    desk.click(desk.page.send_button)
    await desk.until(lambda: desk.parts() == "after")
    gone = faults.refusal(on="any", times=0, status=404, code=3000, message="vectorize.index.not_found")
    service.follow(gone)
    desk.click(desk.page.summary.check_button)
    await desk.until(lambda: desk.page.failure.isVisibleTo(desk.page))
    await desk.idle()
    assert desk.page.failure.text().startswith("There is no index “products” in the account.")
    assert desk.parts() == "after"
    service.follow()
    desk.click(next(link for link in desk.page.failure.links() if link.text() == "Choose an index"))
    await desk.idle()
    assert desk.parts() == "form"


async def test_a_search_that_fails_is_said_and_can_be_made_again(account: tuple[Desk, ThreadedService]) -> None:
    desk, service = account
    job = await desk.job("Products", rows(range(12)), "cloudflare")
    await desk.show(job)
    desk.click(desk.page.send_button)
    await desk.until(lambda: desk.parts() == "after")
    search = desk.page.search
    search.sentence.setText("brass")
    service.follow(faults.refusal(on="submit", times=0, status=400, code=5006, message="no"))
    desk.click(search.button)
    await desk.until(lambda: desk.page.failure.isVisibleTo(desk.page))
    await desk.idle()
    assert search.empty.sentence() == "The search did not come back with an answer."
    service.follow()
    desk.click(search.button)
    await desk.until(lambda: search.found.rowCount() > 0)
    assert not desk.page.failure.isVisibleTo(desk.page)


async def test_a_worker_has_no_such_api_and_another_connection_is_offered(
    account: tuple[Desk, ThreadedService],
) -> None:
    desk, _service = account
    job = await desk.job("Products", rows(range(12)), "cloudflare")
    worker = SavedConnection("worker", "My Worker", "worker", url="https://batch.example.workers.dev")
    await desk.program.keep_settings(connections=(*desk.program.settings.connections, worker))
    await desk.show(replace(job, connection="worker"))
    assert desk.page.empty.sentence().startswith("My Worker is a Worker, which only passes batches on.")
    assert desk.page.empty.button.text() == "Use “Cloudflare”"
    desk.click(desk.page.empty.button)
    await desk.until(lambda: desk.page.send_button.isVisibleTo(desk.page))
    await desk.idle()
    assert desk.page.send_button.text() == "Send 12 vectors"
