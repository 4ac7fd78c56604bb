"""The page of Vectorize over a real program and the practice service: form, push, what is said after it, search."""

from dataclasses import replace

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from cfbatch_gui.core.system.settings import SavedConnection
from cfbatch_gui.core.vectorize.client import Metric
from cfbatch_gui.core.vectorize.push_values import MetadataColumn, PushOptions, PushOutcome
from cfbatch_gui.ui.vectorize.running_pushes import proposed_name
from tests.support import faults
from tests.support.faulty_service import ThreadedService
from tests.ui.conftest import Until
from tests.ui.vectorize.conftest import Desk, rows


async def test_a_job_goes_into_a_new_index_and_a_search_finds_it_there(desk: Desk) -> None:
    job = await desk.job("Products, June", rows(range(24)))
    await desk.show(job)
    page = desk.page
    assert desk.parts() == "form"
    assert page.form.index.name.text() == "products-june"
    assert page.form.index.line.text() == (
        "It will be created in the practice service on this computer: 256 dimensions, cosine."
    )
    assert page.send_button.text() == "Send 24 vectors"
    assert page.line.text().startswith(
        "Practice: the index is on this computer, and nothing leaves it. What is accepted"
    )
    page.form.columns.metadata[1].click()
    await desk.until(lambda: page.form.is_checked() and not page.tasks.running())
    assert page.form.columns.as_text.text() == "Send the numbers of price as texts"
    desk.click(page.send_button)
    await desk.until(lambda: desk.parts() == "after" and not page.tasks.running())
    assert page.summary.title.text() == "24 of 24 are in “products-june”."
    assert "256 dimensions · " in page.summary.line.text() and "24 of the vectors" in page.summary.line.text()
    assert [page.summary.sent.text(0, at) for at in range(1, 6)] == ["the job's IDs", "none", "price", "24", "0"]
    assert page.search.price.text().endswith("costs nothing here")
    assert not page.search.button.isEnabled()
    QTest.keyClicks(page.search.sentence, "a lamp of brass")
    QTest.keyClick(page.search.sentence, Qt.Key.Key_Return)
    await desk.until(lambda: page.search.found.rowCount() > 0 and not page.tasks.running())
    assert page.search.found.rowCount() == 10
    best = page.search.found.row(0)
    assert (best.text or "").startswith("Desk lamp of brass")
    assert page.line.text().endswith("10 of its 10 are also among the 10 nearest by exact comparison.")


async def test_a_pause_keeps_what_was_sent_and_the_rest_can_be_sent_anew(
    until: Until, account: tuple[Desk, ThreadedService]
) -> None:
    desk, service = account
    job = await desk.job("Products", rows(range(35)), "cloudflare")
    await desk.show(job)
    service.follow(faults.refusal(on="upload", number=3, times=0, status=503, code=7505, message="busy"))
    desk.click(desk.page.send_button)
    progress = desk.page.progress
    await until(lambda: desk.parts() == "progress" and progress.waiting.isVisibleTo(desk.page))
    assert progress.line.text() == "Sending: 20 of 35 vectors"
    assert "The next try is in" in progress.waiting.text()
    desk.click(progress.pause_button)
    await desk.idle()
    assert progress.title.text() == "Not everything is in “products” yet"
    assert progress.line.text() == "20 of 35 were sent to “products”."
    other = await desk.job("Other", rows(range(5)), "cloudflare")
    await desk.show(other)
    assert desk.parts() == "form"
    service.follow()
    await desk.show(job)
    assert desk.parts() == "progress"
    desk.click(progress.choose_button)
    await desk.idle()
    assert desk.page.form.index.index_name() == "products"
    assert desk.page.send_button.text() == "Send 15 vectors"
    desk.click(desk.page.send_button)
    await until(lambda: desk.parts() == "after")
    await desk.idle()
    assert desk.page.summary.title.text() == "35 of 35 are in “products”."
    assert desk.page.summary.sent.row(0).sent == 15


async def test_a_new_version_is_sent_as_the_one_before_and_takes_out_what_is_gone(desk: Desk) -> None:
    may = await desk.job("May", rows(range(20)))
    options = PushOptions(metadata=(MetadataColumn("price", "price"),))
    await desk.program.vectorize.calls("practice").create("products", 256, Metric.COSINE)
    await desk.program.vectorize.push(may.id, "practice", "products", options)
    june = await desk.job("June", rows(range(4, 30)))
    await desk.show(june)
    form = desk.page.form
    await desk.until(lambda: form.is_checked() and not desk.page.tasks.running())
    assert form.index.index_name() == "products"
    assert form._proposed.text() == "As “May” was sent."
    assert [each.column for each in form.options().metadata] == ["price"]
    assert form.check.line.text() == "10 new, 0 changed, 16 in the index already as they are."
    assert form.check.gone.text() == "4 are gone from the file; take them out of the index"
    assert not form.options().delete_removed
    form.check.gone.click()
    desk.click(desk.page.send_button)
    await desk.until(lambda: desk.parts() == "after")
    push = desk.page.summary.sent.row(0)
    assert (push.sent, push.deleted, push.outcome) == (10, 4, PushOutcome.VERIFIED)
    info = await desk.program.vectorize.calls("practice").info("products")
    assert info.vector_count == 26


async def test_what_would_be_refused_is_said_before_anything_is_sent(desk: Desk) -> None:
    job = await desk.job("Products", rows(range(12), long_id=True))
    await desk.program.vectorize.calls("practice").create("short", 32, Metric.COSINE)
    await desk.show(job)
    page = desk.page
    (bar,) = page.form.check.bars()
    assert bar.text().startswith("Rows with an id of more than 64 bytes: 1.")
    assert not page.send_button.isEnabled()
    assert page.line.text().endswith("What Vectorize would refuse has to be changed first.")
    desk.click(bar.links()[0])
    await desk.until(lambda: desk.wanted)
    assert desk.wanted == [((4,), "Would be refused")]
    choice = page.form.index.choice
    at = choice.findData("short")
    assert choice.itemText(at) == "short: takes 32 dimensions, and these vectors have 256"
    assert not choice.model().flags(choice.model().index(at, 0)) & Qt.ItemFlag.ItemIsEnabled
    page.form.columns.ids.set_value("rows")
    page.form.columns.ids.picked.emit("rows")
    await desk.until(page.send_button.isEnabled)
    assert page.form.check.bars() == []


def test_a_name_for_an_index_is_made_of_the_name_of_a_job() -> None:
    assert proposed_name("Products, June", ()) == "products-june"
    assert proposed_name("Poêle à frire – été", ()) == "poele-a-frire-ete"
    assert proposed_name("製品", ()) == "vectors"
    assert proposed_name("2026 Texts", ()) == "vectors-2026-texts"
    assert proposed_name("B", ()) == "vectors-b"
    assert proposed_name("Products", {"products", "products-2"}) == "products-3"
    assert len(proposed_name("x" * 300, ())) <= 64


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
    assert desk.page.progress.line.text() == "10 of 25 were sent to “products”."
    opened: list[bool] = []
    desk.notices.connection_wanted.connect(lambda: opened.append(True))
    desk.click(next(link for link in desk.page.failure.links() if link.text() == "Open connection"))
    assert opened == [True]
    service.follow()
    desk.click(desk.page.progress.carry_on_button)
    await desk.until(lambda: desk.parts() == "after")
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
