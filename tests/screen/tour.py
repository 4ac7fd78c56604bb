"""A walk through every page and dialog, by what the window is made of and not by its words, in any language."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QApplication, QLabel, QMainWindow, QMenu, QWidget

from cfbatch_gui.core.connections.credentials import Credentials
from cfbatch_gui.core.errors import ConnectionProblem
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import Purpose, account_progress
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.resources import resource
from cfbatch_gui.core.vectorize.client import Metric
from cfbatch_gui.core.vectorize.push_values import PushOptions
from cfbatch_gui.core.workers_ai.collector import NO_ROOM_SENTENCE
from cfbatch_gui.ui import dialogs
from cfbatch_gui.ui.evaluation.comparison_page import ANSWER, MEASURES, QUERIES, SCORES
from cfbatch_gui.ui.help import Topic
from cfbatch_gui.ui.jobs import job_page as tabs
from cfbatch_gui.ui.jobs.elsewhere import AccountDialog
from cfbatch_gui.ui.settings import CONNECTIONS, DATA, SPENDING, WINDOW
from cfbatch_gui.ui.theme import Theme
from tests.screen import material
from tests.screen.past import draft, run
from tests.screen.stage import Stage, opened
from tests.screen.worker_stage import WorkerStage, served
from tests.support import faults
from tests.support.clients import save_cloudflare
from tests.support.faulty_service import ThreadedService
from tests.support.keyrings import MemoryKeyring
from tests.support.lists import numbered_lists, two_lists

ACCOUNT = "0123456789abcdef0123456789abcdef"
TOKEN = "practice-takes-any-token-0000000000000000"
WORKER, COLLECTED = "Worker", "Store reviews"  # a connection, and a job whose answers it collects
Visit = Callable[[Stage, str, QWidget], Awaitable[None]]
"""Called at every page with the stage, the page's name and the window that shows it: the main window or a dialog."""

_TICK = 0.01
_STILL = 4  # ticks without a change
_PATIENCE = 240.0  # seconds


class Past:
    """A data folder with jobs in every state, made once; windows are opened over it one after the other."""

    def __init__(self, root: Path, service: ThreadedService) -> None:
        self.root, self.service = root, service
        self.environ = {"CLOUDFLARE_API_BASE_URL": service.url}
        self.credentials = Credentials(MemoryKeyring(), {})
        self.files = root / "files"
        self.worker: WorkerStage  # of the window that is open

    async def make(self) -> None:
        """Run the jobs."""
        self.files.mkdir(parents=True)
        program = await Program.open(
            self.root / "data", environ=self.environ, credentials=self.credentials, practice_times=(0.0, 0.0)
        )
        await save_cloudflare(program, ACCOUNT, TOKEN)
        program.change_settings(connection="practice", for_developers=True)
        help_centre = resource("examples/help-centre-ranking.csv")
        await run(program, "Help centre, baseline", help_centre, Kind.RANK)
        beginnings = material.beginnings(self.files / "beginnings.csv", help_centre)
        await run(program, "Help centre, short answers", beginnings, Kind.RANK)
        plain = material.without_labels(self.files / "plain.csv", help_centre)
        await run(program, "Support articles, April", plain, Kind.RANK)
        catalogue = material.catalogue(self.files / "catalogue.csv", 220)
        vectors = await run(program, "Catalogue vectors", catalogue, Kind.EMBED)
        await program.vectorize.calls("cloudflare").create(
            "catalogue", program.vectorize.dimension_of(vectors.id), Metric.COSINE
        )
        await program.vectorize.push(vectors.id, "cloudflare", "catalogue", PushOptions())
        await two_lists(program, self.files, *numbered_lists(30), name="Catalogue", threshold=-1.0)
        await draft(program, "Product search, May", resource("examples/wide-questions.csv"), Kind.RANK)
        follow = self.service.follow
        follow(faults.reset_after_body(on="submit"))
        await run(program, "FAQ rerank, second try", help_centre, Kind.RANK, "cloudflare")
        follow(faults.fail_requests(on="poll", requests=(2, 5), error="AiError: Internal server error"))
        letters = material.reviews(self.files / "newsletters.csv", 9, 30)
        await run(program, "Newsletter archive", letters, Kind.RANK, "cloudflare")
        follow(faults.refusal(on="any", times=0, status=401, code=10000, message="Authentication error"))
        await run(program, "Invoices, first quarter", help_centre, Kind.RANK, "cloudflare")
        follow()
        material.reviews(self.files / "store-reviews.csv", 40, 18, gaps=24, separator=";")
        material.old_letters(self.files / "letters-1998.csv")
        material.misquoted(self.files / "stock.csv")
        material.abstracts(self.files / "abstracts.csv", 600)
        await program.close()

    @asynccontextmanager
    async def opened(self, theme: Theme) -> AsyncIterator[Stage]:
        """A window over it, in which batches stay at the service, beside a Worker that collects."""
        async with (
            served(self.root / "worker") as self.worker,
            opened(
                self.root / "data",
                theme,
                environ=self.environ,
                credentials=self.credentials,
                practice_times=(3_600.0, 3_600.0),
            ) as stage,
        ):
            await self.worker.connect(stage.program, name=WORKER, for_new_jobs=False)
            yield stage


async def settled(stage: Stage) -> None:
    """Wait until no page has anything to do, and nothing on the screen moves."""
    deadline, still, before = time.monotonic() + _PATIENCE, 0, 0
    while still < _STILL:
        if time.monotonic() > deadline:
            raise AssertionError(f"the window does not come to rest: {_at_work()}")
        await asyncio.sleep(_TICK)
        now = hash(tuple(_geometry()))
        still = still + 1 if now == before and not _at_work() else 0
        before = now


def _at_work() -> list[str]:
    tasks = (task for task in asyncio.all_tasks() if not task.done())
    named = ((getattr(task.get_coro(), "__qualname__", ""), task.get_name()) for task in tasks)
    return [name for kind, name in named if kind == "Tasks._run" and name not in _WAITING]


_WAITING = ("close", "compare", "open file")  # tasks that wait for an answer in a dialog


def _geometry() -> Iterator[object]:
    for window in QApplication.topLevelWidgets():
        if window.isVisible():
            for widget in window.findChildren(QWidget):
                if widget.isVisible():
                    yield widget.geometry().getRect()
                    yield widget.text() if isinstance(widget, QLabel) else ""


class Tour:
    """Goes through the window of a stage, and calls `visit` at each stop."""

    def __init__(self, stage: Stage, past: Past, visit: Visit) -> None:
        self._stage, self._past, self._visit = stage, past, visit
        self._space, self._window = stage.workspace, stage.workspace.window

    async def go(self) -> None:
        """All of it."""
        pages = (self.drafts, self.jobs, self.rankings, self.comparison, self.judging, self.reviewing, self.vectors)
        for part in (*pages, self.account, self.settings, self.dialogs, self.questions, self.menus, self.notices):
            await part()

    async def _stop(self, name: str) -> None:
        await settled(self._stage)
        await self._visit(self._stage, name, self._window)

    async def _open(self, name: str) -> None:
        self._space.open_job(self._stage.job(name).id)
        await settled(self._stage)

    async def _dialog(self, name: str, dialog: QWidget | None = None) -> None:
        """Stop at the dialog that is open, and close it."""
        await settled(self._stage)
        shown = dialog or next(each for each in QApplication.topLevelWidgets() if _is_dialog(each))
        await self._visit(self._stage, name, shown)
        shown.close()
        await settled(self._stage)

    async def drafts(self) -> None:
        """The first page, and drafts."""
        space, draft_page = self._space, self._space.draft_page
        space.show_start()
        await self._stop("start")
        await space.new_jobs.begin()
        await self._stop("draft-empty")
        space.draft_page.drafts.use_example()
        await self._stop("draft")
        draft_page.what.set_folded(False)
        draft_page.data.set_folded(False)
        await self._stop("draft-unfolded")
        draft_page.check.options_button.setChecked(True)
        await self._stop("draft-options")
        draft_page.area.ensureWidgetVisible(draft_page.check)
        await self._stop("draft-check")
        await self._open("Product search, May")
        draft_page.what.set_folded(True)
        draft_page.data.set_folded(True)
        await self._stop("draft-folded")
        for file, name in (("store-reviews", "problems"), ("letters-1998", "encoding"), ("stock", "doubtful")):
            await space.new_jobs.begin(self._past.files / f"{file}.csv")
            await settled(self._stage)
            if name != "encoding":
                found = draft_page.drafts.shown.preflight
                draft_page.check.problem_bars.show_rows(found.problems[0].kind if found else "")
            await self._stop(f"draft-{name}")
            if name != "encoding":
                draft_page.area.ensureWidgetVisible(draft_page.check.problems)
                await self._stop(f"draft-{name}-rows")
        await space.new_jobs.begin_example(Purpose.VECTORS)
        await settled(self._stage)
        draft_page.what.set_folded(False)
        await self._stop("draft-vectors")
        draft_page.drafts.choose_purpose(Purpose.MATCH)
        await self._stop("draft-one-list")
        await space.new_jobs.begin(purpose=Purpose.MATCH)
        await self._stop("draft-no-list")
        draft_page.drafts.use_example()
        await settled(self._stage)
        await self._stop("draft-lists")
        draft_page.drafts.choose_matching(within="department")
        draft_page.drafts.choose_template("{description}, {size}")
        await settled(self._stage)
        await self._stop("draft-lists-joined")
        await space.new_jobs.begin_example(Purpose.CATEGORIES)
        await self._stop("draft-categories")

    async def jobs(self) -> None:
        """Jobs at work and in trouble."""
        program = self._stage.program
        at_work = [job for job in program.ledger.jobs() if job.name == "Abstracts"]
        if not at_work:
            job = await draft(program, "Abstracts", self._past.files / "abstracts.csv", Kind.EMBED)
            await program.actions.send(job.id)
            self._space.show_jobs()
        for name in ("Abstracts", "Newsletter archive", "Invoices, first quarter", "FAQ rerank, second try"):
            await self._open(name)
            self._space.job_page.tabs.choose(tabs.PROGRESS)
            await self._stop(f"progress-{name.split()[0].lower().strip(',')}")

    async def rankings(self) -> None:
        """A ranking on all its tabs."""
        await self._open("Help centre, baseline")
        for tab in (tabs.RANKING, tabs.QUALITY, tabs.OVERVIEW, tabs.DETAILS):
            self._space.job_page.tabs.set_shown(tab, True)
            self._space.job_page.tabs.choose(tab)
            await self._stop(tab)
        self._space.job_page.tabs.choose(tabs.PROGRESS)
        self._space.job_page.progress.table.open_answer(0)
        await self._dialog("raw-answer")
        self._space.job_page.tabs.choose(tabs.RANKING)
        await settled(self._stage)
        self._space.job_page.view("ranking").contexts.opened.emit(0)
        await self._stop("ranking-text")
        self._space.menus.export.trigger()
        await self._dialog("export")

    async def comparison(self) -> None:
        """The choice of jobs, and the tabs of a comparison."""
        base, other = (self._stage.job(name).id for name in ("Help centre, baseline", "Help centre, short answers"))
        self._space.compare(base)
        await self._dialog("comparison-choose")
        self._space.compare(base, other)
        page = self._space.comparison_page
        for tab in (ANSWER, QUERIES, SCORES, MEASURES):
            await settled(self._stage)
            page.tabs.choose(tab)
            await self._stop(f"comparison-{tab}")

    async def judging(self) -> None:
        """Before judging, and while judging."""
        self._space.judge(self._stage.job("Support articles, April").id)
        await self._stop("judging-start")
        self._space.judge_page.begin_button.click()
        await self._stop("judging")

    async def reviewing(self) -> None:
        """The matches of two lists, deciding the doubtful ones, and the end of it."""
        await self._open("Catalogue")
        self._space.job_page.tabs.choose(tabs.MATCHES)
        await self._stop(tabs.MATCHES)
        self._space.review(self._stage.job("Catalogue").id)
        await settled(self._stage)
        page = self._space.review_page
        page.view.cards[1].clicked.emit()
        await self._stop("reviewing")
        while page.session is not None and page.session.asked is not None:
            page.view.cards[0].clicked.emit()
            await settled(self._stage)
        await self._stop("reviewing-end")
        page.leave()
        self._stage.program.drafts.use_for(self._stage.job("Catalogue").id, purpose=Purpose.CATEGORIES)
        await self._open("Catalogue")
        self._space.job_page.tabs.choose(tabs.CATEGORIES)
        await self._stop(tabs.CATEGORIES)
        view = self._space.job_page.view(tabs.CATEGORIES)
        view.edit()
        await self._dialog("categories-edit")
        view.check_rows_link.click()
        await self._stop("reviewing-categories")

    async def vectors(self) -> None:
        """Vectors on all their tabs."""
        await self._open("Catalogue vectors")
        for tab in (tabs.VECTORS, tabs.SEARCH, tabs.MAP, tabs.GROUPS, tabs.DUPLICATES):
            bar = self._space.job_page.tabs
            if bar.is_shown(tab):
                bar.choose(tab)
                await self._stop(tab)
            if tab == tabs.SEARCH:
                search = self._space.job_page.view("search")
                search.field.setText("something warm for the bed")
                search.search()
                await self._stop("search-found")
        await self._vectorize()
        self._space.job_page.view("search").screening.begin_button.click()
        await self._stop("screening")
        self._space.screening_page.leave()

    async def _vectorize(self) -> None:
        """What stands there after a push and after a search, and the form before the next."""
        self._space.job_page.tabs.choose(tabs.VECTORIZE)
        await self._stop("vectorize")
        page = self._space.job_page.view("vectorize")
        page.search.sentence.setText("something warm for the bed")
        page.search.button.click()
        await self._stop("vectorize-found")
        page.state.choose_button.click()
        await self._stop("vectorize-form")

    async def account(self) -> None:
        """A draft and a job whose answers the user's account collects, and what is in the account."""
        program, worker, page = self._stage.program, self._past.worker, self._space.draft_page
        await self._open("Product search, May")
        page.drafts.change_job(connection=worker.connection_id)
        page.refresh_connections()
        await settled(self._stage)
        page.check.options_button.setChecked(True)
        page.area.ensureWidgetVisible(page.check.options)
        await self._stop("draft-account")
        page.drafts.change_job(connection="practice")
        for job in program.ledger.jobs():
            if job.name == COLLECTED:  # of an earlier window: its account is another one
                await program.runner.pause(job.id)
                await program.store.on_disk(program.drafts.delete, job.id)
        job = await worker.send(program, COLLECTED, self._past.files / "store-reviews.csv", Kind.RANK)
        self._space.show_jobs()
        await self._stage.person.until(lambda: account_progress(program.ledger.job(job.id)).lid_may_close)
        await self._open(COLLECTED)
        await self._stop("progress-account")
        await program.store.change(job.id, lambda known: replace(known, account_problem=NO_ROOM_SENTENCE))
        self._space.show_jobs()
        await self._stop("progress-account-problem")
        await self._account_dialog()

    async def _account_dialog(self) -> None:
        """The list of what is in the account, with its dialog to take a job over; and the list when it is empty."""
        room = self._past.worker.room
        room.put("abcdefgh", "Catalogue vectors", batches=12)
        self._space.menus.show_account()
        await settled(self._stage)
        dialog = next(each for each in QApplication.topLevelWidgets() if isinstance(each, AccountDialog))
        await self._visit(self._stage, "account", dialog)
        dialog.table.selectRow([job.id for job in map(dialog.rows.row, range(2))].index("abcdefgh"))
        dialog.files.open(self._past.files / "catalogue.csv")
        await settled(self._stage)
        dialog.take_button.click()  # there is no layout of it
        await settled(self._stage)
        await self._visit(self._stage, "take-over-problem", dialog)
        kept, room.shards = room.shards, {}
        dialog.look()
        await settled(self._stage)
        await self._visit(self._stage, "account-empty", dialog)
        room.shards = kept
        dialog.close()
        await settled(self._stage)

    async def settings(self) -> None:
        """Settings on all tabs, with a card of each kind of connection."""
        space, page = self._space, self._space.settings_page
        space.show(page)
        for key in (CONNECTIONS, WINDOW, SPENDING, DATA):
            page.tabs.choose(key)
            await self._stop(f"settings-{key}")
        space.show_connections()
        for kind in ("worker", "gateway"):
            space.connection_page._begin(kind)
            if kind == "worker":
                space.connection_page.cards[-1].rows["collects"].field.setChecked(True)
            await self._stop(f"connection-{kind}")
        space.show(space.traffic_page)
        await self._stop("traffic")

    async def dialogs(self) -> None:
        """Dialogs that the menu opens."""
        menus = self._space.menus
        for name, show in (
            *(("attach", menus.attach), ("notice-list", self._window.show_notices), ("about", menus.show_about)),
            *(("help", partial(menus.show_help, Topic.SCORES)), ("shortcuts", menus.show_shortcuts)),
        ):
            show()
            await self._dialog(name)
        self._space.show_connections()
        self._space.connection_page.check_service("cloudflare")
        await self._dialog("service-check")
        page = self._space.connection_page
        card = page._add("worker")
        page.show_guide(card)
        await self._dialog("worker-guide")
        page.set_up(card)
        await self._dialog("worker-setup")
        card.lines["url"].field.setText("https://cf-batch-door.anna.workers.dev")
        card.show_record(card.typed())
        page.take_down(card)
        await self._dialog("worker-removal")

    async def questions(self) -> None:
        """A question with two buttons, and one that asks for a line."""
        self._window.close_requested.emit()
        await self._dialog("question")
        asked = asyncio.ensure_future(dialogs.ask_text(self._window, "Rename", "Name", text="Product search, May"))
        await self._dialog("ask-text")
        await asked

    async def menus(self) -> None:
        """Each menu of the menu bar."""
        await self._open("Help centre, baseline")
        for number, action in enumerate(self._window.menuBar().actions()):
            menu = action.menu()
            if isinstance(menu, QMenu):
                menu.popup(self._window.mapToGlobal(QPoint(20, 30)))
                await self._dialog(f"menu-{number}", menu)

    async def notices(self) -> None:
        """Notices above a page."""
        notices = self._window.notices
        notices.show_notice("Wrote 3,816 rows to “Support articles, March.xlsx”.", "done")
        notices.show_error(ConnectionProblem("Cloudflare refused the token. Sending has stopped; nothing was lost."))
        await self._stop("notices")


def _is_dialog(widget: QWidget) -> bool:
    return widget.isVisible() and widget.isWindow() and not isinstance(widget, QMainWindow | QMenu)
