"""The third part of a draft: its figures, the rows left out, whether it can be sent, and the button that sends it."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QSizePolicy, QWidget

from cfbatch_gui.core.connections.address_book import ConnectionSummary
from cfbatch_gui.core.inputs.input_values import LONGEST_RAW, Kind, Layout, ProblemKind
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.row_problems import StoredProblem, problem_columns, problems, with_signs
from cfbatch_gui.core.jobs.plan.packing import Plan
from cfbatch_gui.core.jobs.plan.requests import too_long_texts
from cfbatch_gui.core.jobs.plan.spending import PastTimes, over_budget, past_times
from cfbatch_gui.core.jobs.states import Job, Purpose, most_batches, wants_account
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.workers_ai.catalogue import DEFAULT_MODEL, ModelMetadata, find_model
from cfbatch_gui.core.workers_ai.connection_kinds import Connection, ConnectionKind
from cfbatch_gui.core.workers_ai.model_listing import Catalogue
from cfbatch_gui.ui import widgets
from cfbatch_gui.ui.inputs.draft_actions import FIRST, DraftActions
from cfbatch_gui.ui.inputs.draft_state import DraftState
from cfbatch_gui.ui.tables.table_rows import Column, Rows
from cfbatch_gui.ui.tables.table_view import TableView
from cfbatch_gui.ui.theme import MEDIUM, SMALL, WIDE, scaled
from cfbatch_gui.ui.widgets.keyboard import follow_in_tab_order
from cfbatch_gui.ui.widgets.text_panel import TextPanel
from cfbatch_gui.words import plans
from cfbatch_gui.words.figures import number, one_line, plural
from cfbatch_gui.words.languages import said, tr
from cfbatch_gui.words.states import connection_of, is_practice, short_model, title_words


def _cut(cell: str) -> str:
    return with_signs(cell if len(cell) <= LONGEST_RAW else f"{cell[:LONGEST_RAW]}…", breaks=True)


CUT = "cut"  # beside the kinds of problem: texts that are sent, and of which the model reads the beginning
_LINKS = {
    ProblemKind.DOUBTFUL_SENT: ("show", "doubt"),
    ProblemKind.DOUBTFUL_ROW: ("show", "trust", "save"),
    ProblemKind.TOO_LONG: ("cut", "begin", "show", "save"),
}
MOST_ROWS = 5_000
_ROW_HEIGHT = 34
_ROWS_AT_ONCE, _ROWS_ABOVE_PANEL = 6, 4
_MEASURED = 40  # rows
_LINES = 7  # of the panel
_Bar = tuple[str, str, tuple[str, ...]]  # kind, sentence and links


class ProblemBars(QWidget):
    """A bar for each reason; `view` shows the rows of one, which are read in a thread."""

    def __init__(self, drafts: DraftActions, reveal: Callable[..., None]) -> None:
        super().__init__()
        self._drafts, self._reveal = drafts, reveal
        self._wanted: list[_Bar] = []
        self.view = ProblemsView()
        self.bars: dict[str, widgets.NoticeBar] = {}  # by the kind of problem
        self._lines = widgets.column()
        self.save_all = widgets.LinkButton("", on_click=drafts.save_problems)
        self.notes = widgets.Saying("info")
        self.setLayout(widgets.column(self._lines, widgets.row(self.save_all, None), self.notes))
        self.hide()

    def show_preflight(self, found: Plan | None, job: Job) -> None:
        """Nothing is touched while it is the same."""
        wanted = _wanted_bars(found, job) if found is not None else []
        left_out = (
            [each.count for each in found.problems if each.kind is not ProblemKind.DOUBTFUL_SENT] if found else []
        )
        self.save_all.setText(
            plural(sum(left_out), "Save all {n} rows that are left out…", "Save all {n} rows that are left out…")
        )
        self.save_all.setVisible(len(left_out) > 1)
        self.notes.set_line("\n".join(map(said, found.notices)) if found is not None else "")
        if wanted != self._wanted:
            self._wanted = wanted
            self._renew()
        self.setVisible(bool(self.notes.text() or self.bars))

    def _renew(self) -> None:
        had_focus = any(link.hasFocus() for bar in self.bars.values() for link in bar.links())
        widgets.discard(self._lines, *self.bars.values())
        self.bars = {each[0]: self._bar(*each) for each in self._wanted}
        for bar in self.bars.values():
            self._lines.addWidget(bar)
        links = [link for bar in self.bars.values() for link in bar.links()]
        follow_in_tab_order(self, *links, self.save_all)
        if had_focus and links:
            links[0].setFocus()
        self.view.hide()

    def _bar(self, kind: str, sentence: str, links: tuple[str, ...]) -> widgets.NoticeBar:
        drafts = self._drafts
        acts: dict[str, tuple[str, Callable[[], object]]] = {
            "show": (self.tr("Show rows"), partial(self.show_rows, kind)),
            "save": (self.tr("Save them…"), partial(drafts.save_problems, kind)),
            "cut": (self.tr("Cut into parts"), drafts.split_for_model),
            "begin": (self.tr("Read their beginning"), partial(drafts.change_options, truncate_inputs=True)),
            "end": (self.tr("Leave them out"), partial(drafts.change_options, truncate_inputs=False)),
            "trust": (self.tr("Send them as read"), partial(drafts.choose_doubtful, True)),
            "doubt": (self.tr("Leave them out"), partial(drafts.choose_doubtful, False)),
        }
        bar = widgets.NoticeBar(sentence, "info" if kind in (CUT, ProblemKind.DOUBTFUL_SENT) else "attention")
        for link in links:
            bar.add_link(*acts[link])
        return bar

    def show_rows(self, kind: str) -> None:
        """Or hide them where they are shown."""
        if self.view.isHidden() or self.view.found.kind != kind:
            self._drafts.tasks.start("rows", self._show_rows(kind, self._drafts.current))
        else:
            self.view.hide()

    async def _show_rows(self, kind: str, job_id: str) -> None:
        folder, model = self._drafts.program.folder(job_id), self._drafts.model()
        found = await asyncio.to_thread(read_problems, folder, kind, model)
        sentence = next((sentence for known, sentence, _ in self._wanted if known == kind), "")
        if sentence and job_id == self._drafts.current:
            self.view.show_problems(found, sentence)
            self._reveal(self.view, self.view.heading)  # in a small window the heading is worth more


def _wanted_bars(found: Plan, job: Job) -> list[_Bar]:
    bars: list[_Bar] = [
        (each.kind, said(each.sentence), _LINKS.get(each.kind, ("show", "save"))) for each in found.problems
    ]
    if found.too_long:
        is_cut = job.options.truncate_inputs
        bars.append((CUT, plans.too_long_words(found, is_cut=is_cut), ("show", "cut", "end" if is_cut else "begin")))
    return bars


Problems = Column[StoredProblem]


@dataclass(frozen=True, slots=True)
class ProblemRows:
    kind: str
    rows: tuple[StoredProblem, ...]
    columns: tuple[str, ...]
    files: str = "12"  # what they are called

    @property
    def has_raw(self) -> bool:
        return any(each.raw for each in self.rows)


def read_problems(folder: JobFolder, kind: str, metadata: ModelMetadata) -> ProblemRows:
    """The first rows with this problem, or `CUT` for the texts that are too long; for a thread."""
    if kind == CUT:
        found = tuple(too_long_texts(folder, metadata, limit=MOST_ROWS))
    else:
        found = problems(folder, kind=kind, limit=MOST_ROWS)
    is_lists = folder.fact("layout") == Layout.LISTS
    files = {problem.file for problem in found}
    if is_lists and len(files) > 1:  # whose columns differ
        found = tuple(replace(each, cells=(" · ".join(filter(None, each.cells)),)) for each in found)
        return ProblemRows(kind, found, (tr("In the file"),), "AB")
    return ProblemRows(kind, found, problem_columns(folder, file=2 if files == {2} else 1), "AB" if is_lists else "12")


class ProblemsView(widgets.Card):
    """A table of the rows.

    Where they are known as they stand in the file, a panel compares the current one with its cells.
    """

    def __init__(self) -> None:
        super().__init__(inset=True, gap=0, margins=(MEDIUM, 4, MEDIUM, SMALL))
        self.found = ProblemRows("", (), ())
        self.heading = widgets.ElidedLabel("", "strong")
        self.close_button = widgets.IconButton("x", self.tr("Hide these rows"), self.hide)
        self.table = TableView(title=self.tr("Rows with a problem"), inset=True, on_picked=self._show_row)
        self.table.horizontalHeader().setStretchLastSection(True)
        self.table.verticalHeader().setDefaultSectionSize(scaled(_ROW_HEIGHT))
        self.panel = TextPanel(lines=_LINES)
        self.body.addLayout(widgets.row((self.heading, 1), self.close_button))
        self.body.addWidget(self.table)
        self.body.addWidget(self.panel)
        self.hide()

    def show_problems(self, found: ProblemRows, sentence: str) -> None:
        if len(found.rows) >= MOST_ROWS:
            sentence += self.tr(" The first {n} are shown.").format(n=number(len(found.rows)))
        self.heading.setText(sentence)
        self.found = found
        self.table.show_rows(Rows(_columns(found), found.rows, parent=self.table))
        at_once = min(_ROWS_ABOVE_PANEL if found.has_raw else _ROWS_AT_ONCE, len(found.rows))
        self.table.setFixedHeight(self.table.horizontalHeader().height() + at_once * scaled(_ROW_HEIGHT) + 12)
        self.panel.setVisible(found.has_raw)
        if found.has_raw:
            self.table.selectRow(0)
        self.show()

    def _show_row(self, index: int) -> None:
        model = self.table.model()
        if isinstance(model, Rows) and not self.panel.isHidden():
            problem: StoredProblem = model.row(index)
            cells = [f"{name}: {_cut(cell)}" for name, cell in zip(self.found.columns, problem.cells, strict=False)]
            read = cells if any(problem.cells) else [self.tr("nothing")]
            text = "\n".join((with_signs(problem.raw, breaks=True), "", self.tr("As read:"), *read))
            heading = self.tr("Row {n}, as it stands in the file:").format(n=number(problem.row))
            self.panel.show_text(heading, text, problem=said(problem.reason))


def _columns(found: ProblemRows) -> list[Column[StoredProblem]]:
    """As wide as their first rows need, up to a length."""

    def texts(name: str, value: Callable[[StoredProblem], str], longest: int) -> Problems:
        widest = tuple(one_line(value(each), longest) for each in found.rows[:_MEASURED])
        return Column(name, value, width=80, widest=widest)

    def cell(index: int) -> Callable[[StoredProblem], str]:
        return lambda each: each.cells[index] if index < len(each.cells) else ""

    reason = texts(tr("Why"), lambda each: said(each.reason), 12 if found.has_raw else 54)
    file: Problems = Column(tr("File"), lambda each: found.files[each.file - 1], align="right", width=56)
    return [
        *([file] if any(problem.file == 2 for problem in found.rows) else []),
        Column(tr("Row"), lambda each: each.row, show=number, align="right", width=64),
        texts(tr("In the file"), lambda each: each.raw, 42) if found.has_raw else reason,
        *(texts(name, cell(index), 36) for index, name in enumerate(found.columns)),
        *([reason] if found.has_raw else []),  # the panel has it too
    ]


_LEAST_LETTERS = 12  # of a choice in a narrow window


class OptionsPanel(widgets.Card):
    def __init__(self, drafts: DraftActions) -> None:
        super().__init__(inset=True, margins=(16, 12, 16, 12))
        self._drafts = drafts
        self.model = _Narrowing(self.tr("Model"), on_picked=self._choose_model)
        self.only_model = widgets.Label("", wrap=True)
        self.hint = widgets.IconLine("", "info")
        self.connection = _Narrowing(self.tr("Connection"), on_picked=self.choose_connection)
        ways = ((self.tr("In batches, through the queue"), False), (self.tr("At once, without the queue"), True))
        self.way = self._option(self.tr("Sending"), "at_once", *ways)
        self.pooling = self._option(self.tr("Pooling"), "pooling")
        places = ((self.tr("Collect in my account"), True), (self.tr("This computer asks for them"), False))
        self.account = self._option(self.tr("Answers"), "collect_in_account", *places)
        self.account_about = widgets.Label("", "small", wrap=True)
        self._form, self._lines = widgets.form(), {}
        self.body.addLayout(self._form)
        below = {self.model: (self.only_model, self.hint), self.account: (self.account_about,)}
        for field in (self.model, self.connection, self.way, self.pooling, self.account):
            label = widgets.Label(field.accessibleName(), "quiet")
            label.setBuddy(field)
            self._lines[field] = widgets.column(widgets.row(field, None), *below.get(field, ()))
            self._form.addRow(label, self._lines[field])
        self.hide()

    def _option(self, name: str, option: str, *choices: tuple[str, object]) -> widgets.Choice:
        """The choice of one of the job's options."""
        return _Narrowing(name, choices, lambda value: self._drafts.change_options(**{option: value}))

    def show_job(self, job: Job, state: DraftState, connections: Sequence[ConnectionSummary]) -> None:
        program, found, kind = self._drafts.program, state.preflight, state.kind or job.kind
        catalogue = program.connections.models(job.connection)
        self._show_model(job, kind, catalogue)
        self.hint.set_line(self._hint_words(catalogue, job.model))
        self.way.set_value(job.options.at_once)
        fits_synchronous = found is not None and bool(found.synchronous_sentence)
        self._form.setRowVisible(self._lines[self.way], fits_synchronous or job.options.at_once)
        self.connection.refill((_connection_words(each), each.id) for each in connections)
        self.connection.set_value(job.connection)
        self._form.setRowVisible(self._lines[self.connection], len(connections) > 1)
        poolings = catalogue.find(job.model).poolings
        usual = self.tr("The model's own ({name})").format(name="".join(poolings[:1]))
        self.pooling.refill([(usual, ""), *((name, name) for name in poolings[1:])])
        self.pooling.set_value(job.options.pooling)
        self._form.setRowVisible(self._lines[self.pooling], bool(poolings) and kind is Kind.EMBED)
        self._show_account(job, connection_of(program, job), batches=len(found.batches) if found else 0)

    def _show_account(self, job: Job, connection: Connection | None, *, batches: int) -> None:
        """Only a Worker's account collects, and only batches."""
        is_worker = connection is not None and connection.kind is ConnectionKind.WORKER
        self._form.setRowVisible(self._lines[self.account], is_worker and not job.options.at_once)
        if connection is None:
            return
        self.account.set_value(wants_account(job, connection))
        about = self.tr(
            "You can close this computer once all batches are with your account: it keeps their answers until CF Batch"
            " is open again."
        )
        if batches > most_batches(connection):
            about += " " + self.tr(
                "On the Workers Free plan it collects {most} of these {n} batches; the program asks for the others."
            ).format(most=number(most_batches(connection)), n=number(batches))
        self.account_about.setText(about)

    def choose_connection(self, connection_id: str) -> None:
        self._drafts.change_job(connection=connection_id)
        self._drafts.ask_for_models(connection_id)

    def _hint_words(self, catalogue: Catalogue, model: str) -> str:
        metadata, day = catalogue.find(model), datetime.fromtimestamp(catalogue.listed_at, UTC).date()
        if not metadata.is_listed:
            return self.tr("Not in our list of {date}: limits and price are cautious guesses.").format(date=day)
        said = self.tr("Models as Cloudflare listed them on {date}.").format(date=day)
        if metadata.retired_on:
            said += " " + self.tr("This one ends on {date}.").format(date=metadata.retired_on)
        if not metadata.batch:
            said += " " + self.tr("This one is not marked for batches.")
        return said

    def _show_model(self, job: Job, kind: Kind, catalogue: Catalogue) -> None:
        """A menu where there is a choice, else a sentence."""
        choices = {each.name: said(each.title) for each in catalogue.models if each.can_rank or kind is Kind.EMBED}
        choices.setdefault(job.model, job.model)
        self.only_model.setText(self.tr("{model}, the only one that ranks").format(model="".join(choices.values())))
        if kind is Kind.EMBED:
            choices[""] = self.tr("Another model…")
        self.model.refill((title, name) for name, title in choices.items())
        self.model.set_value(job.model)
        self.model.setVisible(len(choices) > 1)
        self.only_model.setVisible(len(choices) == 1)

    def _choose_model(self, name: str) -> None:
        if name:
            self._drafts.change_job(model=name)
        else:
            self._drafts.type_model()


def _connection_words(summary: ConnectionSummary) -> str:
    pattern = "{name}" if summary.is_confirmed else tr("{name} (batches unconfirmed)")
    return (pattern if summary.is_ready else tr("{name} (not ready)")).format(name=title_words(summary.title))


class _Narrowing(widgets.Choice):
    def minimumSizeHint(self) -> QSize:
        least = self.sizeHint()
        return least.boundedTo(QSize(_LEAST_LETTERS * self.fontMetrics().horizontalAdvance("x") + 40, least.height()))


_LEAST_LINE = 120  # pixels of the sentence beside the main button


class CheckSection(widgets.SectionCard):
    """Shows figures, problems and settings; `foot`, with the buttons that send, stands below the scrolled part.

    `reveal` scrolls to widgets, the last one being worth the most.
    """

    def __init__(self, drafts: DraftActions, reveal: Callable[..., None]) -> None:
        super().__init__(self.tr("Check and send"), foldable=False)
        self._drafts, self._reveal = drafts, reveal
        self.facts = widgets.ElidedLabel("", "quiet")
        self.facts.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        self.options_button = widgets.QuietButton(self.tr("Options"), "sliders-horizontal")
        self.options_button.setCheckable(True)
        self.options_button.toggled.connect(self._show_options)
        self.actions_row.addWidget(self.facts)
        self.actions_row.addWidget(self.options_button)
        self.options = OptionsPanel(drafts)
        self.headline = widgets.Phrase()
        self.headline.setProperty("kind", "large")
        self.notes = widgets.Saying("info")
        self.instead = widgets.NoticeBar()
        match = partial(drafts.choose_purpose, Purpose.MATCH)
        self.instead.add_link(self.tr("Match the two lists"), match)
        self.facts_link = widgets.LinkButton(self.tr("Requests, bytes, price"), on_click=self._show_facts)
        self.figures = widgets.LabelGrid("quiet", "body", stretches=(0, 1), wrapped=1)
        self.figures.hide()
        self.problem_bars = ProblemBars(drafts, lambda *parts: reveal(parts[0], self.send_button, *parts[1:]))
        self.problems = self.problem_bars.view
        self.line = widgets.Label("", "quiet", wrap=True)
        drafts = self._drafts
        self._cures: dict[str, tuple[str, Callable[[], object]]] = {  # the last two are offers
            "connect": (self.tr("Open connection"), drafts.notices.connection_wanted.emit),
            "use bge-m3": (self.tr("Use bge-m3"), lambda: drafts.change_job(model=DEFAULT_MODEL)),
            "read again": (self.tr("Try again"), drafts.retry),
            "run at once": (self.tr("Run at once"), lambda: drafts.change_options(at_once=True)),
            "use the queue": (self.tr("Use the queue"), lambda: drafts.change_options(at_once=False)),
        }
        self._cure = ""
        self.cure = widgets.LinkButton(on_click=self._use_cure)
        self.try_button = widgets.Button(self.tr("Try the first {n}").format(n=FIRST), on_click=drafts.try_first)
        self.send_button = widgets.PrimaryButton("", "send", drafts.send)
        self.line.setMinimumWidth(scaled(_LEAST_LINE))
        self.line.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        foot = widgets.Flow(self.line, self.cure, self.try_button, self.send_button)
        self.foot = widgets.boxed(widgets.column(widgets.boxed(foot), margins=(WIDE, SMALL, WIDE, MEDIUM)))
        line = widgets.boxed(widgets.Flow(self.headline, self.facts_link, gap=MEDIUM))
        priced = widgets.boxed(widgets.column(line, self.notes, gap=6))
        for part in (self.options, priced, self.figures, self.instead, self.problem_bars, self.problems):
            self.content.addWidget(part)
        self.content.setSpacing(MEDIUM + 2)

    def show_state(self, state: DraftState, job: Job, connections: tuple[ConnectionSummary, ...]) -> None:
        connection = next((each for each in connections if each.id == job.connection), None)
        known, found, clock = connection_of(self._drafts.program, job), state.preflight, self._drafts.program.clock
        title = title_words(known.title) if known is not None else self.tr("a connection that was removed")
        self.facts.setText(f"{short_model(job)} · {title}")
        self.facts.updateGeometry()
        self.options.show_job(job, state, connections)
        if found is not None or not state.is_reading:
            self._show_price(found, job, state)
            self.facts_link.setVisible(found is not None)
            shown = plans.facts(found, job, job.rows_in, state.spent, clock()) if found is not None else ()
            self.figures.show_lines(list(shown))
        if found is not None or not state.is_reading:
            self.problem_bars.show_preflight(found, job)
        self._show_foot(state, job, connection)

    def _show_price(self, found: Plan | None, job: Job, state: DraftState) -> None:
        lists = state.counted(job) if found is not None else None
        if found is None:
            self.headline.set_runs(())
        elif lists is None:
            self.headline.set_runs(((plans.headline(found, job, self._past(found, job)), True),))
        else:
            self.headline.set_runs(plans.lists_words(lists, found, job))
        self.notes.set_line(plans.lists_notes(lists, found, job) if lists and found else "")
        is_shared = state.mapping is not None and state.mapping.layout is Layout.SHARED
        pairs = (found.queries, found.texts // found.queries) if found and found.queries and is_shared else (0, 0)
        self.instead.say(plans.match_instead_words(*pairs, found), "info")

    def _past(self, found: Plan, job: Job) -> PastTimes | None:
        jobs, at_once = self._drafts.program.ledger.jobs(), job.options.at_once
        return past_times(jobs, job.kind, job.connection, found.texts, synchronous=at_once)

    def _show_facts(self) -> None:
        self.figures.setVisible(self.figures.isHidden())
        self._reveal(self.figures)

    def _show_options(self, shown: bool) -> None:
        self.options.setVisible(shown)
        self.options_button.setAccessibleDescription(self.tr("shown") if shown else "")
        if shown:
            self._reveal(self.options, self.send_button)
            self._drafts.ask_for_models(self._drafts.job().connection)

    def _show_foot(self, state: DraftState, job: Job, connection: ConnectionSummary | None) -> None:
        found, (reason, self._cure) = state.preflight, readiness(state, job, connection)
        why_not, is_waiting = said(reason), state.is_sending or state.opening or state.is_reading or state.unsaved
        if why_not:
            self.line.setText(why_not)
            self.line.set_role("quiet" if is_waiting or not state.has_data else "attention")
        elif found is not None:
            budget = self._drafts.program.settings.budget
            too_dear = "" if is_practice(job) else said(over_budget(found.price_high, budget, state.spent))
            self.line.setText(too_dear or self._words_of_ready(found, job, state))
            self.line.set_role("attention" if too_dear else "quiet")
            if job.options.at_once:
                self._cure = "use the queue"
            elif found.synchronous_sentence and not is_practice(job):
                self._cure = "run at once"
        self.cure.setVisible(self._cure in self._cures)
        if self._cure in self._cures:
            self.cure.setText(self._cures[self._cure][0])
        lists = state.counted(job)
        count = 0 if found is None else found.queries if state.kind is Kind.RANK else found.texts
        self.try_button.setVisible((lists.texts[0] if lists is not None else count) > FIRST)
        self.send_button.setText(self._send_words(state, job))
        for button in (self.send_button, self.try_button):
            button.set_possible(why_not)
        if state.is_lists and not why_not:
            tip = self.tr("Sends the first {n} rows of A and all of B, as a job of its own")
            self.try_button.setToolTip(tip.format(n=FIRST))

    def _use_cure(self) -> None:
        _, act = self._cures[self._cure]
        act()

    def _send_words(self, state: DraftState, job: Job) -> str:
        found = state.preflight
        if found is None or state.incomplete or not (found.batches or found.reused):
            return self.tr("Send")
        if not found.batches:
            return self.tr("Finish without sending")
        if job.options.at_once:
            return plural(found.requests, "Run {n} request at once", "Run {n} requests at once")
        if state.counted(job) is not None:
            return plural(found.sent_texts, "Send {n} text", "Send {n} texts")
        return plural(len(found.batches), "Send {n} batch", "Send {n} batches")

    def _words_of_ready(self, found: Plan, job: Job, state: DraftState) -> str:
        if not found.batches:
            return self.tr("Nothing is sent: earlier jobs have every result.")
        if job.options.at_once and not found.synchronous_sentence:
            return self.tr("This is much for a run without the queue; batches are made for it.")
        if found.synchronous_sentence and (job.options.at_once or not is_practice(job)):
            return said(found.synchronous_sentence)
        if is_practice(job):
            return self.tr("Practice: costs nothing")
        if not found.price_high.is_listed:
            return self.tr("Cloudflare names no price for this model.")
        if state.counted(job) is not None:
            return plans.usually_words(found, job, self._past(found, job))
        return plans.free_words(found, state.spent, self._drafts.program.clock())


def readiness(state: DraftState, job: Job, connection: ConnectionSummary | None) -> tuple[str, str]:
    """The first reason against sending, "" for none, in the order in which the user can remove them, and its cure."""
    if state.is_sending:
        return tr("Packing what is to be sent…"), ""
    if state.opening:
        return tr("Opening {name}…").format(name=state.opening), ""
    if not state.has_data:
        return tr("Bring your data first: open a file, drop it here, or paste."), ""
    if state.incomplete:
        return state.incomplete, ""
    if state.wants_second_list(job):
        typed = tr("Type your categories first, one a line, or open a file that has them.")
        return typed if job.options.purpose is Purpose.CATEGORIES else message("add_second_list"), ""
    if job.options.purpose is Purpose.CATEGORIES and state.second is not None and len(state.second.sample) < 2:
        return tr("Add a second category: with one alone there is nothing to choose between."), ""
    if job.kind is Kind.RANK and state.kind is Kind.RANK and not find_model(job.model).can_rank:
        return state.trouble or tr("This model cannot rank texts in batches."), "use bge-m3"
    if state.trouble:
        return state.trouble, "read again"
    if state.is_reading or state.preflight is None:
        return tr("Working out what it comes to…") if state.is_read else tr("Reading the whole file…"), ""
    if state.preflight.blocker:
        return state.preflight.blocker, ""
    if state.unsaved:
        return tr("Saving…"), ""
    if connection is not None and not connection.is_ready:
        title, sentence = title_words(connection.title), said(connection.sentence)
        return tr("{connection}: {sentence}").format(connection=title, sentence=sentence), "connect"
    return "", ""
