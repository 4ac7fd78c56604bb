"""The page of Vectorize over a real program and a stand-in: form, push, what is said after it, search."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from cfbatch_gui.core.connections.credentials import Credentials
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.settings import SavedConnection
from cfbatch_gui.core.vectorize.client import Metric
from cfbatch_gui.core.vectorize.push_values import MetadataColumn, PushOptions, PushOutcome
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.results.push_form import proposed_name
from cfbatch_gui.ui.results.vectorize_page import VectorizePage
from cfbatch_gui.ui.theme import Theme
from tests.canary import TOKEN
from tests.screen.past import run
from tests.screen.stage import opened
from tests.support import faults
from tests.support.clients import save_cloudflare
from tests.support.faulty_service import ThreadedService
from tests.support.keyrings import MemoryKeyring
from tests.support.sentences import shows
from tests.ui.connections import click, pick, shown_page, until

ACCOUNT = "0123456789abcdef0123456789abcdef"
WORDS = ("Desk lamp of brass", "Garden hose with a nozzle", "Saucepan of steel", "Cotton towel in green")
PART = 10  # vectors of an upload in these tests


def rows(numbers: range, *, long_id: bool = False) -> str:
    """A catalogue with these numbers."""
    lines = [
        f'{"x" * 65 if long_id and number == 3 else number:04},"{WORDS[number % 4]}, {number}",{number * 1.5}\n'
        for number in numbers
    ]
    return "id,text,price\n" + "".join(lines)


@dataclass
class Desk:
    """The page on the screen, with the program behind it."""

    root: Path
    program: Program
    notices: Notices
    page: VectorizePage
    wanted: list[tuple[object, str]] = field(default_factory=list)

    async def job(self, name: str, content: str) -> Job:
        """A finished job, not shown yet."""
        path = self.root / f"{name}.csv"
        path.write_text(content, encoding="utf-8")
        return await run(self.program, name, path, Kind.EMBED, "cloudflare")

    async def show(self, job: Job) -> None:
        """Show a job, and wait until all of it is there."""
        self.page.show_job(job)
        await self.idle()

    async def idle(self) -> None:
        """Wait until nothing is under way."""
        await until(lambda: not self.page.tasks.running() and not self.page.pushing.running())

    def parts(self) -> str:
        """Which part is shown."""
        if self.page._parts.currentWidget() is self.page._form_part:
            return "form"
        return "progress" if self.page.search.isHidden() else "after"


@pytest.fixture
async def account(tmp_path: Path) -> AsyncIterator[tuple[Desk, ThreadedService]]:
    """The page over a data folder with an account, whose service can be told to fail."""

    async def prepare(program: Program) -> None:
        await save_cloudflare(program, ACCOUNT, TOKEN)
        program.vectorize._settings = replace(program.vectorize._settings, most_vectors=PART)

    def make(program: Program, notices: Notices) -> VectorizePage:
        return VectorizePage(program, notices)

    with ThreadedService(tmp_path / "service").opened() as service:
        environ = {"CLOUDFLARE_API_BASE_URL": service.url}
        opening = {"environ": environ, "credentials": Credentials(MemoryKeyring(), {})}
        async with shown_page(tmp_path, make, prepare=prepare, **opening) as (program, page):
            desk = Desk(tmp_path, program, page.notices, page)
            page.rows_wanted.connect(lambda _, items, name: desk.wanted.append((items, name)))
            yield desk, service
            await page.pushing.close()


@pytest.fixture
def desk(account: tuple[Desk, ThreadedService]) -> Desk:
    return account[0]


async def test_a_job_goes_into_a_new_index_and_a_search_finds_it_there(desk: Desk) -> None:
    job = await desk.job("Products, June", rows(range(24)))
    await desk.show(job)
    page = desk.page
    assert desk.parts() == "form"
    assert page.form.name.text() == "products-june"
    assert "through “Cloudflare”: 256 dimensions" in page.form.index_line.text()
    assert page.send_button.text() == "Send 24 vectors"
    page.form.metadata[1].click()
    await desk.idle()
    assert "price" in page.form.as_text.text()
    click(page.send_button)
    await until(lambda: desk.parts() == "after" and not page.tasks.running())
    assert page.state.title.text() == "24 of 24 are in “products-june”."
    assert "256 dimensions · " in page.state.more.text() and "24 of the vectors" in page.state.line.text()
    assert page.state.sent.texts()[5:16:2] == ["price", "24", "0", "0", "24", "24"]
    assert not page.search.button.isEnabled()
    QTest.keyClicks(page.search.sentence, "a lamp of brass")
    QTest.keyClick(page.search.sentence, Qt.Key.Key_Return)
    await until(lambda: page.search.found.rowCount() > 0 and not page.tasks.running())
    assert page.search.found.rowCount() == 10
    best = page.search.found.row(0)
    assert (best.text or "").startswith("Desk lamp of brass")
    assert page.foot.text().endswith(message("shared_found_are_also_among_exact", shared=10, found=10, exact=10))


async def test_a_pause_keeps_what_was_sent_and_the_rest_can_be_sent_anew(account: tuple[Desk, ThreadedService]) -> None:
    desk, service = account
    job = await desk.job("Products", rows(range(35)))
    await desk.show(job)
    service.follow(faults.refusal(on="upload", number=3, times=0, status=503, code=7505, message="busy"))
    click(desk.page.send_button)
    progress = desk.page.state
    await until(lambda: desk.parts() == "progress" and progress.waiting.isVisibleTo(desk.page))
    assert progress.title.text() == message("sending_done_total_vectors", done=20, total=35)
    click(progress.pause_button)
    await desk.idle()
    assert progress.title.text() == "20 of 35 were sent to “products”."
    other = await desk.job("Other", rows(range(5)))
    await desk.show(other)
    assert desk.parts() == "form"
    service.follow()
    await desk.show(job)
    assert desk.parts() == "progress"
    click(progress.choose_button)
    await desk.idle()
    assert desk.page.form.index_name() == "products"
    assert desk.page.send_button.text() == "Send 15 vectors"
    click(desk.page.send_button)
    await until(lambda: desk.parts() == "after")
    await desk.idle()
    assert desk.page.state.title.text() == "35 of 35 are in “products”."
    assert desk.page.state.sent.texts()[7] == "15"


async def test_a_new_version_is_sent_as_the_one_before_and_takes_out_what_is_gone(desk: Desk) -> None:
    may = await desk.job("May", rows(range(20)))
    options = PushOptions(metadata=(MetadataColumn("price", "price"),))
    await desk.program.vectorize.calls("cloudflare").create("products", 256, Metric.COSINE)
    await desk.program.vectorize.push(may.id, "cloudflare", "products", options)
    june = await desk.job("June", rows(range(4, 30)))
    await desk.show(june)
    form = desk.page.form
    assert form.index_name() == "products"
    assert form._proposed.text() == "As “May” was sent."
    assert [each.column for each in form.options().metadata] == ["price"]
    assert form.check_line.text() == message("send_new_new_changed_changed_held", new=10, changed=0, held=16)
    assert form.gone.text().startswith("4 ") and not form.options().delete_removed
    form.gone.click()
    click(desk.page.send_button)
    await until(lambda: desk.parts() == "after")
    (push,) = desk.program.vectorize.pushes(june.id)
    assert (push.sent, push.deleted, push.outcome) == (10, 4, PushOutcome.VERIFIED)
    info = await desk.program.vectorize.calls("cloudflare").info("products")
    assert info.vector_count == 26


async def test_what_would_be_refused_is_said_before_anything_is_sent(desk: Desk) -> None:
    job = await desk.job("Products", rows(range(12), long_id=True))
    await desk.program.vectorize.calls("cloudflare").create("short", 32, Metric.COSINE)
    await desk.show(job)
    page = desk.page
    bar = page.form.problems
    assert bar.text().startswith(message("rows_id_more_than_most_bytes", most=64, n=1))
    assert not page.send_button.isEnabled()
    click(bar.links()[0])
    await until(lambda: desk.wanted)
    assert [items for items, _ in desk.wanted] == [(4,)]
    pick(page.form.index, "short")
    await until(lambda: shows(bar.text(), "index_takes_vectors_wanted_numbers_these"))
    pick(page.form.index, "")
    pick(page.form.ids, "rows")
    await until(page.send_button.isEnabled)
    assert not bar.isVisible()


async def test_the_tab_is_there_once_an_account_is_connected(tmp_path: Path, theme: Theme) -> None:
    path = tmp_path / "Products.csv"
    path.write_text(rows(range(4)), encoding="utf-8")
    async with opened(tmp_path / "data", theme, practice_times=(0.0, 0.0)) as stage:
        job = await run(stage.program, "Products", path, Kind.EMBED, "practice")
        stage.workspace.show_jobs()
        stage.workspace.open_job(job.id)
        tabs = stage.workspace.job_page.tabs
        await until(lambda: tabs.is_shown("vectors"))
        assert not tabs.is_shown("vectorize")
        await save_cloudflare(stage.program, ACCOUNT, TOKEN)
        stage.workspace.open_job(job.id)
        assert tabs.is_shown("vectorize")
        tabs.choose("vectorize")
        page = stage.workspace.job_page.view("vectorize")
        await until(lambda: not page.tasks.running())
        page.show_rows((2,))
        assert tabs.current() == "vectors"
        await until(lambda: not stage.workspace.job_page.view("vectors").tasks.running())
        await until(lambda: not stage.workspace.tasks.is_running("connection"))


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
    job = await desk.job("Products", rows(range(25)))
    await desk.show(job)
    refusal = faults.refusal(on="upload", number=2, times=0, status=403, code=10000, message="Authentication error")
    service.follow(refusal)
    click(desk.page.send_button)
    await until(desk.notices.bars)
    await desk.idle()
    (bar,) = desk.notices.bars()
    assert "Vectorize Write" in bar.text() and desk.page.state.waiting.text() == bar.text()
    assert desk.page.state.title.text() == "10 of 25 were sent to “products”."
    opened: list[bool] = []
    desk.notices.connection_wanted.connect(lambda: opened.append(True))
    next(link for link in bar.links() if link.text() == "Open connection").click()
    assert opened == [True]
    service.follow()
    click(desk.page.state.carry_on_button)
    await until(lambda: desk.parts() == "after")


async def test_vectors_of_a_worker_go_through_the_account(account: tuple[Desk, ThreadedService]) -> None:
    desk, _service = account
    job = await desk.job("Products", rows(range(12)))
    worker = SavedConnection("worker", "My Worker", "worker", url="https://batch.example.workers.dev")
    await desk.program.keep_settings(connections=(*desk.program.settings.connections, worker))
    await desk.show(replace(job, connection="worker"))
    assert "through “Cloudflare”" in desk.page.form.index_line.text()
    assert desk.page.send_button.text() == "Send 12 vectors"
