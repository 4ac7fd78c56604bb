"""The pushes that are under way, and before one: into which index, what of the job, and what was found out about it."""

import asyncio
import itertools
import re
import unicodedata
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import msgspec
from PySide6.QtWidgets import QComboBox, QLineEdit, QWidget

from cfbatch_gui.core.errors import UsageError, UserError
from cfbatch_gui.core.job_folder.folder import texts_forgotten
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.results.embeddings import Embeddings
from cfbatch_gui.core.results.exports.vector_files import usual_key
from cfbatch_gui.core.vectorize.client import Metric, VectorizeIndex, check_connection_kind, check_index_name
from cfbatch_gui.core.vectorize.push_values import IdSource, MetadataColumn, Push, PushCheck, PushOptions, PushProgress
from cfbatch_gui.core.versions import find_predecessor
from cfbatch_gui.core.workers_ai.connection_kinds import Connection
from cfbatch_gui.core.workers_ai.limits import INDEX_NAME_FORM, MAX_INDEX_NAME_BYTES, MAX_METADATA_BYTES
from cfbatch_gui.ui import display, widgets
from cfbatch_gui.ui.theme import LARGE, MEDIUM, TINY, scaled
from cfbatch_gui.ui.widgets import Card, CheckBox, Choice, Flow, Label, Saying, boxed, column
from cfbatch_gui.ui.widgets.keyboard import follow_in_tab_order
from cfbatch_gui.words import figures
from cfbatch_gui.words.indexes import dimension_words
from cfbatch_gui.words.languages import said, tr
from cfbatch_gui.words.states import title_words

if TYPE_CHECKING:
    from cfbatch_gui.ui.results.vectorize_page import VectorizePage

LONGEST_NAME = 40  # letters of a name of the user's that are shown in a sentence
_NO_NAME = re.compile(r"[^a-z0-9]+")


def proposed_name(job_name: str, taken: Collection[str]) -> str:
    """A name for a new index, from a job's: small Latin letters, digits and "-", and none that there is already. One
    that no index can have, since it begins with a digit or is a single letter, gets a word before it.
    """
    letters = unicodedata.normalize("NFKD", job_name).encode("ascii", "ignore").decode().lower()
    words = _NO_NAME.sub("-", letters).strip("-")
    if not re.fullmatch(INDEX_NAME_FORM, words):
        words = f"vectors-{words}".rstrip("-")
    name = words[: MAX_INDEX_NAME_BYTES - 4].rstrip("-")
    numbered = (f"{name}-{number}" for number in itertools.count(2))
    return next(each for each in itertools.chain([name], numbered) if each not in taken)


def short_name(name: str) -> str:
    return figures.one_line(name, LONGEST_NAME)


def connection_to_index(program: Program, job: Job) -> Connection:
    """The job's, or where that has no way to Vectorize the first account. Raises UserError where there is none."""
    book = program.address_book
    for connection_id in (job.connection, *(each.id for each in book.saved())):
        with suppress(UserError):
            connection = book.connection(connection_id)
            check_connection_kind(connection)
            return connection
    own = book.connection(job.connection)
    check_connection_kind(own)
    return own


@dataclass(frozen=True, slots=True)
class JobVectors:
    """What is known of a job; its `pushes` are those into the account of the connection, the newest first.

    `before` is the name of the version before it, and the last push of that there.
    """

    job: Job
    connection: Connection
    dimension: int
    columns: tuple[str, ...]
    has_ids: bool
    pushes: tuple[Push, ...]
    before: tuple[str, Push | None]


def read_job(program: Program, job: Job) -> JobVectors:
    """Read a job, for a thread. Raises UserError."""
    connection = connection_to_index(program, job)
    vectorize, folder = program.vectorize, program.folder(job.id)
    earlier = find_predecessor(job, program.ledger.jobs(), program.folder)

    def pushes_of(job_id: str) -> tuple[Push, ...]:
        return tuple(each for each in vectorize.pushes(job_id) if each.account_mark == connection.account_mark)

    return JobVectors(
        job,
        connection,
        vectorize.dimension_of(job.id),
        vectorize.columns(job.id) if texts_forgotten(folder) is None else (),
        Embeddings(folder).has_ids,
        pushes_of(job.id),
        (earlier.name, next(iter(pushes_of(earlier.id)), None)) if earlier is not None else ("", None),
    )


_NEW = ""  # the value of the entry for a new index
_COLUMN = "column/"  # before the name of a column, in the values of the choice of ids
_FEWEST_LETTERS, _FEWEST_LETTERS_OF_INDEX = 14, 24  # of a choice
CHECK, _LIST = "check", "indexes"  # names of tasks
_RESTING = 0.35  # seconds after the last change, before the vectors are looked at


class PushForm(QWidget):
    """Looks for the account's indexes, and at what a job would send there; its page says in the foot what is known.

    `job_id` is "" before it begins and once it is left.
    """

    _known: JobVectors

    def __init__(self, page: "VectorizePage") -> None:
        super().__init__()
        self._page, self._program, self._tasks = page, page.program, page.tasks
        self.job_id = ""
        self._indexes: tuple[VectorizeIndex, ...] = ()
        self._check: PushCheck | None = None
        self.has_failed = False  # the last question for the account's indexes
        cards = (self._index_card(), self._columns_card(), self._check_card())
        self.setLayout(column(*cards, None, gap=MEDIUM, margins=widgets.PAGE_MARGINS))

    def begin(self, known: JobVectors, push: Push | None) -> None:
        """For a job, as `push` was sent, or else as the version before the job was."""
        self.job_id, self._known, self._indexes = known.job.id, known, ()
        name_before, before = known.before
        like = push or before
        options = within(like.options, known.columns) if like is not None else PushOptions()
        as_before = figures.worded("As “{job}” was sent.", job=short_name(name_before))
        self._proposed.set_line(as_before if push is None and like is not None else "")
        self._fill_indexes(_NEW)
        self.name.setText(self._proposed_name())
        self._fill_columns(known, options)
        for box in (self.gone, self.everything):
            box.setChecked(False)
        self._show_check(PushCheck())
        self._look_again(0.0)
        self.list_indexes(like.index if like is not None else "")

    def stop(self) -> None:
        self.job_id, self.has_failed = "", False
        self._tasks.cancel(CHECK)
        self._tasks.cancel(_LIST)

    def list_indexes(self, wanted: str) -> None:
        self._tasks.start(_LIST, self._list(wanted))

    # Making

    def _index_card(self) -> Card:
        self.index = _choice(tr("Index"), _FEWEST_LETTERS_OF_INDEX, lambda _: self._look_again())
        self.name = QLineEdit()
        self.name.setAccessibleName(tr("Name of the new index"))
        self.name.setMinimumHeight(scaled(30))
        self.name.textEdited.connect(lambda _: self._show_index())
        self._new = _field(self.name)
        self.index_line = widgets.IconLine("", "info")
        return Card(Label(tr("Into which index"), "strong"), self.index, self._new, self.index_line)

    def _columns_card(self) -> Card:
        self._proposed = Saying("info")
        self.ids = _choice(tr("ID of each vector"), _FEWEST_LETTERS, self._columns_changed)
        self.namespace = _choice(tr("Namespace"), _FEWEST_LETTERS, self._columns_changed)
        self.metadata: tuple[CheckBox, ...] = ()
        self._boxes = Flow(gap=LARGE)
        self._limit = Label("", "small", wrap=True)
        self.as_text = CheckBox("")
        self.as_text.clicked.connect(self._columns_changed)
        return Card(
            Label(tr("What is sent"), "strong"),
            self._proposed,
            boxed(Flow(_field(self.ids), _field(self.namespace), gap=LARGE)),
            Label(tr("Beside each vector"), "quiet"),
            boxed(self._boxes),
            self._limit,
            self.as_text,
        )

    def _check_card(self) -> Card:
        self.check_line = Label("", "body", wrap=True)
        self.progress = widgets.ThinProgress()
        self._notes = Saying("info")
        self.problems = widgets.NoticeBar()
        self.gone = CheckBox("")
        self._gone_by = Saying("info")
        self.everything = CheckBox("")
        for box in (self.gone, self.everything):
            box.clicked.connect(lambda _: self._page.show_foot())
        found = (self._notes, self.problems, self.gone, self._gone_by, self.everything)
        title = Label(tr("Before anything is sent"), "strong")
        return Card(title, self.check_line, self.progress, *found)

    # What is chosen

    def chosen_index(self) -> VectorizeIndex | None:
        """None for a new one."""
        return next((each for each in self._indexes if each.name == self.index.value()), None)

    def index_name(self) -> str:
        return str(self.index.value() or self.name.text().strip())

    def options(self) -> PushOptions:
        ids, is_there = str(self.ids.value()), self.chosen_index() is not None
        is_column = ids.startswith(_COLUMN)
        chosen: list[MetadataColumn] = []
        for name, box in zip(self._known.columns, self.metadata, strict=True):
            if box.isChecked():
                chosen.append(MetadataColumn(name, usual_key(name, [each.key for each in chosen])))
        return PushOptions(
            ids=IdSource.COLUMN if is_column else IdSource(ids),
            id_column=ids.removeprefix(_COLUMN) if is_column else "",
            namespace=str(self.namespace.value() or ""),
            metadata=tuple(chosen),
            numbers_as_text=self.as_text.isChecked(),
            delete_removed=is_there and self._check is not None and self._check.gone > 0 and self.gone.isChecked(),
            everything=is_there and self.everything.isChecked(),
        )

    def why_not(self) -> str:
        if problem := self._index_problem():
            return problem
        if self._check is None:
            return tr("The vectors are still being looked at.")
        if self._check.problems:
            return tr("What Vectorize would refuse has to be changed first.")
        return "" if any(self._amounts()) else tr("Everything is in the index as it is.")

    def send_words(self) -> str:
        send, delete = self._amounts()
        if delete and not send:
            return figures.plural(delete, "Take out {n} vector", "Take out {n} vectors")
        return figures.plural(send, "Send {n} vector", "Send {n} vectors") if send else tr("Send vectors")

    def size_words(self) -> str:
        return tr("What is accepted stays in the index, whatever comes after it.") if self._amounts()[0] else ""

    def _amounts(self) -> tuple[int, int]:
        """How many vectors would be sent, and how many taken out."""
        check = self._check
        if check is None:
            return 0, 0
        options = self.options()
        is_all = self.chosen_index() is None or options.everything
        send = 0 if check.problems else check.vectors if is_all else check.new + check.changed
        return send, check.gone if options.delete_removed else 0

    # The index

    def _proposed_name(self) -> str:
        """A name that no index has yet."""
        return proposed_name(self._known.job.name, [each.name for each in self._indexes])

    def _fill_indexes(self, chosen: str) -> None:
        forms = (dimension_words(each.config.dimensions, each.config.metric) for each in self._indexes)
        there = ((f"{each.name} · {form}", each.name) for each, form in zip(self._indexes, forms, strict=True))
        self.index.refill([(tr("A new index"), _NEW), *there])
        self.index.set_value(chosen)

    def _index_problem(self) -> str:
        if self.chosen_index() is not None:
            return ""
        name = self.name.text().strip()
        if name in {each.name for each in self._indexes}:
            return tr("There is an index of this name already. Choose it above, or type another name.")
        try:
            check_index_name(name)
        except UsageError as error:
            return said(error.message)
        return ""

    def _show_index(self) -> None:
        known, is_new = self._known, self.chosen_index() is None
        self._new.setVisible(is_new)
        self.index_line.setVisible(is_new)
        there = tr(
            "It will be created in your account, through “{account}”: {form}. It stays there until you delete it."
        )
        form, account = dimension_words(known.dimension, Metric.COSINE), title_words(known.connection.title)
        where = there.format(account=account, form=form)
        problem = self._index_problem()
        icon = ("triangle-alert", "attention") if problem else ("info", "quiet")
        self.index_line.set_line(problem or where, *icon)
        self._page.show_foot()

    async def _list(self, wanted: str) -> None:
        self.has_failed = True
        found = await self._program.vectorize.calls(self._known.connection.id).list_indexes()
        self.has_failed = False
        before, proposed = self.chosen_index(), self._proposed_name()
        self._indexes = tuple(found)
        self._fill_indexes(wanted)
        if self.name.text() == proposed:
            self.name.setText(self._proposed_name())
        if self.chosen_index() != before:
            self._look_again()
        else:
            self._show_index()

    # The columns

    def _fill_columns(self, known: JobVectors, options: PushOptions) -> None:
        own = [(tr("The IDs of the job"), IdSource.OWN.value)] if known.has_ids else []
        by_column = [(short_name(each), _COLUMN + each) for each in known.columns]
        self.ids.refill([*own, (tr("Row numbers"), IdSource.ROWS.value), *by_column])
        self.ids.setCurrentIndex(0)
        self.ids.set_value(_COLUMN + options.id_column if options.ids is IdSource.COLUMN else options.ids.value)
        self.namespace.refill([(tr("None"), ""), *((short_name(each), each) for each in known.columns)])
        self.namespace.set_value(options.namespace)
        widgets.discard(self._boxes, *self.metadata)
        self.metadata = tuple(CheckBox(short_name(each).replace("&", "&&")) for each in known.columns)
        sent = {each.column for each in options.metadata}
        for name, box in zip(known.columns, self.metadata, strict=True):
            box.setChecked(name in sent)
            box.setToolTip(display.plain_tip(name))
            box.clicked.connect(self._columns_changed)
            self._boxes.addWidget(box)
            box.setVisible(True)
        follow_in_tab_order(self.namespace, *self.metadata)
        limit = tr(
            "Vectorize keeps up to {n} bytes beside each vector. A search brings them back, and they stay in your "
            "account."
        ).format(n=figures.number(MAX_METADATA_BYTES))
        self._limit.setText(limit if known.columns else tr("The file has no other columns that could be sent."))
        self.as_text.setChecked(options.numbers_as_text)

    def _columns_changed(self, _: object) -> None:
        self._proposed.hide()
        self._look_again()

    # Looking at what would be sent

    def _look_again(self, resting: float = _RESTING) -> None:
        self._check = None
        self._show_reading(0, 0)
        self._tasks.start(CHECK, self._look(resting))
        self._show_index()

    async def _look(self, resting: float) -> None:
        """Look at what would be sent, after some seconds of rest."""
        await asyncio.sleep(resting)
        known, index = self._known, self.chosen_index()
        # The name of a new index may be half typed, and what it is called changes nothing about the vectors.
        name = index.name if index is not None else self._proposed_name()

        def show(progress: PushProgress) -> None:
            if self._check is None:
                self._show_reading(progress.done, progress.total)

        try:
            self._check = await self._program.vectorize.check(
                *(known.job.id, known.connection.id, name, self.options()), index=index or VectorizeIndex(), show=show
            )
        except UserError as error:
            self.check_line.setText(said(error.message))
        else:
            self._show_check(self._check)
        self.progress.hide()
        self._page.show_foot()

    def _show_reading(self, done: int, total: int) -> None:
        self.check_line.setText(tr("Looking at the vectors, before anything is sent…"))
        self.progress.set_parts(done, total)
        self.progress.show()

    def _show_check(self, check: PushCheck) -> None:
        refused = tr("Vectorize would refuse this as it is. Nothing was sent.")
        self.check_line.setText(refused if check.problems else " ".join(map(said, check.sentences())))
        self._notes.set_line("\n".join(map(said, check.notes)))
        self.problems.clear_links()
        self.problems.say("\n".join(said(problem.sentence) for problem in check.problems))
        for problem in check.problems:
            if problem.items:
                words = figures.plural(len(problem.items), "Show the row", "Show {n} rows")
                self.problems.add_link(words, partial(self._page.show_rows, problem.items))
        gone, held = (check.gone, check.unchanged) if self.chosen_index() is not None else (0, 0)
        self.gone.setVisible(gone > 0)
        self.gone.setText(
            figures.plural(
                gone,
                "{n} is gone from the file; take it out of the index",
                "{n} are gone from the file; take them out of the index",
            )
        )
        jobs = [f"{short_name(name)}: {figures.number(count)}" for name, count in check.gone_by_job]
        by_jobs = figures.worded("They were sent with {jobs}.", jobs=figures.listed(jobs))
        self._gone_by.set_line(by_jobs if gone and jobs else "")
        self.everything.setVisible(held > 0)
        self.everything.setText(
            figures.plural(
                held,
                "Send it again, too, although it is in the index unchanged",
                "Send the {n} again, too, that are in the index unchanged",
            )
        )
        if check.numbers:
            names = figures.listed([short_name(each) for each in check.numbers])
            words = figures.worded("Send the numbers of {columns} as texts", columns=names)
            self.as_text.setText(words.replace("&", "&&"))
        self.as_text.setVisible(bool(check.numbers) or self.as_text.isChecked())


def _choice(name: str, fewest_letters: int, on_picked: Callable[[object], object]) -> Choice:
    choice = Choice(name, on_picked=on_picked)
    choice.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    choice.setMinimumContentsLength(fewest_letters)
    return choice


def _field(field: QWidget) -> QWidget:
    label = Label(field.accessibleName(), "quiet")
    label.setBuddy(field)
    return boxed(column(label, field, gap=TINY))


def within(options: PushOptions, columns: Collection[str]) -> PushOptions:
    """The options without the columns that are not there."""
    has_id = options.ids is not IdSource.COLUMN or options.id_column in columns
    return msgspec.structs.replace(
        options,
        ids=options.ids if has_id else IdSource.OWN,
        id_column=options.id_column if has_id else "",
        namespace=options.namespace if options.namespace in columns else "",
        metadata=tuple(each for each in options.metadata if each.column in columns),
    )
