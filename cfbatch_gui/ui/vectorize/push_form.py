"""Before a push: into which index, what of the job, and what was found out about it."""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import msgspec
from PySide6.QtGui import QStandardItemModel
from PySide6.QtWidgets import QComboBox, QLineEdit, QWidget

from cfbatch_gui.core.errors import UsageError, UserError
from cfbatch_gui.core.job_folder.folder import texts_forgotten
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.results.embeddings import Embeddings
from cfbatch_gui.core.results.exports.vector_files import usual_key
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.core.vectorize.client import Metric, VectorizeIndex, check_connection_kind, check_index_name
from cfbatch_gui.core.vectorize.push_values import (
    IdSource,
    MetadataColumn,
    Push,
    PushCheck,
    PushOptions,
    PushProblem,
    PushProgress,
)
from cfbatch_gui.core.versions import find_predecessor
from cfbatch_gui.core.workers_ai.connection_kinds import Connection
from cfbatch_gui.core.workers_ai.limits import MAX_METADATA_BYTES
from cfbatch_gui.ui import display
from cfbatch_gui.ui.state_names import title_words
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.theme import LARGE, MEDIUM, SMALL, TINY, scaled
from cfbatch_gui.ui.vectorize.running_pushes import dimension_words, fits, index_words, proposed_name, short_name
from cfbatch_gui.ui.widgets import (
    PAGE_MARGINS,
    Card,
    CheckBox,
    Choice,
    Flow,
    IconLine,
    Label,
    NoticeBar,
    Saying,
    ThinProgress,
    boxed,
    column,
)
from cfbatch_gui.ui.widgets.keyboard import follow_in_tab_order


@dataclass(frozen=True, slots=True)
class JobVectors:
    """What is known of a job; its `pushes` are those into the account of the connection, the newest first.

    `before` is the last push of the version before it there, `before_name` the name of that job.
    """

    job: Job
    connection: Connection
    dimension: int
    columns: tuple[str, ...]
    has_ids: bool
    pushes: tuple[Push, ...]
    before: Push | None
    before_name: str


def read_job(program: Program, job: Job, through: str) -> JobVectors:
    """Read a job, for a thread; `through` is the connection. Raises UserError, UsageError for a Worker."""
    connection = program.address_book.connection(through)
    check_connection_kind(connection)
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
        next(iter(pushes_of(earlier.id)), None) if earlier is not None else None,
        earlier.name if earlier is not None else "",
    )


_NEW = ""  # the value of the entry for a new index
_LONGEST = 200  # letters that can be typed; what is too long for a name is said
_FEWEST_LETTERS_OF_INDEX = 24


class IndexChoice(QWidget):
    """`changed` is called when another index was chosen, `named` when a name was typed."""

    def __init__(self, changed: Callable[[], object], named: Callable[[], object]) -> None:
        super().__init__()
        self._changed, self._named = changed, named
        self._indexes: tuple[VectorizeIndex, ...] = ()
        self._job_name, self._dimension, self._where = "", 0, ""
        self.choice = _choice(self.tr("Index"), _FEWEST_LETTERS_OF_INDEX)
        self.choice.picked.connect(lambda _: self._tell(changed))
        self.name = QLineEdit()
        self.name.setMaxLength(_LONGEST)
        self.name.setAccessibleName(self.tr("Name of the new index"))
        self.name.setMinimumHeight(scaled(30))
        self.name.textEdited.connect(lambda _: self._tell(named))
        self.line = IconLine("", "info")
        self._new = _field(self.name)
        self.setLayout(column(self.choice, self._new, self.line, gap=SMALL))

    def begin(self, known: JobVectors) -> None:
        self._indexes, self._job_name, self._dimension = (), known.job.name, known.dimension
        there = self.tr(
            "It will be created in your account, through “{account}”: {form}. It stays there until you delete it."
        )
        here = self.tr("It will be created in the practice service on this computer: {form}.")
        form, account = dimension_words(known.dimension, Metric.COSINE), title_words(known.connection.title)
        self._where = (here if known.connection.is_practice else there).format(account=account, form=form)
        self._fill(_NEW)
        self.name.setText(self.proposed())
        self._show()

    def offer(self, indexes: Sequence[VectorizeIndex], wanted: str) -> None:
        before, proposed = self.index(), self.proposed()
        self._indexes = tuple(indexes)
        possible = [each.name for each in indexes if fits(each, self._dimension)]
        self._fill(wanted if wanted in possible else _NEW)
        if self.name.text() == proposed:
            self.name.setText(self.proposed())
        self._tell(self._changed if self.index() != before else self._named)

    def proposed(self) -> str:
        """A name that no index has yet."""
        return proposed_name(self._job_name, [each.name for each in self._indexes])

    def show_counts(self, counts: Mapping[str, int]) -> None:
        for at, index in enumerate(self._indexes, 1):
            self.choice.setItemText(at, index_words(index, self._dimension, counts.get(index.name)))

    def index(self) -> VectorizeIndex | None:
        return next((each for each in self._indexes if each.name == self.choice.value()), None)

    def index_name(self) -> str:
        return str(self.choice.value() or self.name.text().strip())

    def problem(self) -> str:
        if self.index() is not None:
            return ""
        name = self.name.text().strip()
        if not name:
            return self.tr("Give the new index a name.")
        if name in {each.name for each in self._indexes}:
            return self.tr("There is an index of this name already. Choose it above, or type another name.")
        try:
            check_index_name(name)
        except UsageError as error:
            return said(error.message)
        return ""

    def _fill(self, chosen: str) -> None:
        there = ((index_words(each, self._dimension, None), each.name) for each in self._indexes)
        self.choice.refill([(self.tr("A new index"), _NEW), *there])
        model = self.choice.model()
        if isinstance(model, QStandardItemModel):
            for at, each in enumerate(self._indexes, 1):
                model.item(at).setEnabled(fits(each, self._dimension))
        self.choice.set_value(chosen)

    def _tell(self, whom: Callable[[], object]) -> None:
        self._show()
        whom()

    def _show(self) -> None:
        is_new = self.index() is None
        self._new.setVisible(is_new)
        self.line.setVisible(is_new)
        problem = self.problem()
        self.line.set_line(problem or self._where, *(("triangle-alert", "attention") if problem else ("info",)))


_FEWEST_LETTERS = 14  # of a choice between columns
_COLUMN = "column/"  # before the name of a column, in the values of the choice of ids


class ColumnChoices(QWidget):
    """`changed` is called when the user has chosen something else."""

    def __init__(self, changed: Callable[[], object]) -> None:
        super().__init__()
        self._changed = changed
        self._columns: tuple[str, ...] = ()
        self.ids = _choice(self.tr("ID of each vector"), _FEWEST_LETTERS)
        self.namespace = _choice(self.tr("Namespace"), _FEWEST_LETTERS)
        for choice in (self.ids, self.namespace):
            choice.picked.connect(lambda _: changed())
        self.metadata: tuple[CheckBox, ...] = ()
        self._boxes = Flow(gap=LARGE)
        self._limit = Label("", "small", wrap=True)
        self.as_text = CheckBox("")
        self.as_text.clicked.connect(lambda _: changed())
        beside = Label(self.tr("Beside each vector"), "quiet")
        fields = Flow(_field(self.ids), _field(self.namespace), gap=LARGE)
        self.setLayout(column(boxed(fields), beside, boxed(self._boxes), self._limit, self.as_text, gap=SMALL))

    def offer(self, columns: Sequence[str], *, has_ids: bool, options: PushOptions) -> None:
        self._columns = tuple(columns)
        own = [(self.tr("The IDs of the job"), IdSource.OWN.value)] if has_ids else []
        by_column = [(short_name(each), _COLUMN + each) for each in columns]
        self.ids.refill([*own, (self.tr("Row numbers"), IdSource.ROWS.value), *by_column])
        self.ids.setCurrentIndex(0)
        self.ids.set_value(_COLUMN + options.id_column if options.ids is IdSource.COLUMN else options.ids.value)
        self.namespace.refill([(self.tr("None"), ""), *((short_name(each), each) for each in columns)])
        self.namespace.set_value(options.namespace)
        self._offer_metadata({each.column for each in options.metadata})
        self.show_numbers((), as_text=options.numbers_as_text)

    def options(self) -> PushOptions:
        ids = str(self.ids.value())
        is_column = ids.startswith(_COLUMN)
        chosen: list[MetadataColumn] = []
        for name, box in zip(self._columns, self.metadata, strict=True):
            if box.isChecked():
                chosen.append(MetadataColumn(name, usual_key(name, [each.key for each in chosen])))
        return PushOptions(
            ids=IdSource.COLUMN if is_column else IdSource(ids),
            id_column=ids.removeprefix(_COLUMN) if is_column else "",
            namespace=str(self.namespace.value() or ""),
            metadata=tuple(chosen),
            numbers_as_text=self.as_text.isChecked(),
        )

    def show_numbers(self, numbers: Sequence[str], *, as_text: bool | None = None) -> None:
        if as_text is not None:
            self.as_text.setChecked(as_text)
        if numbers:
            names = display.listed([short_name(each) for each in numbers])
            words = self.tr("Send the numbers of {columns} as texts").format(columns=names)
            self.as_text.setText(words.replace("&", "&&"))
        self.as_text.setVisible(bool(numbers) or self.as_text.isChecked())

    def _offer_metadata(self, chosen: set[str]) -> None:
        for box in self.metadata:
            self._boxes.removeWidget(box)
            box.hide()
            box.deleteLater()
        self.metadata = tuple(CheckBox(short_name(each).replace("&", "&&")) for each in self._columns)
        for name, box in zip(self._columns, self.metadata, strict=True):
            box.setChecked(name in chosen)
            box.setToolTip(display.plain_tip(name))
            box.clicked.connect(lambda _: self._changed())
            self._boxes.addWidget(box)
            box.setVisible(True)
        follow_in_tab_order(self.namespace, *self.metadata)
        some = self.tr(
            "Vectorize keeps up to {n} bytes beside each vector. A search brings them back, and they stay in your "
            "account."
        ).format(n=display.number(MAX_METADATA_BYTES))
        none = self.tr("The file has no other columns that could be sent.")
        self._limit.setText(some if self._columns else none)


def _choice(name: str, fewest_letters: int) -> Choice:
    choice = Choice(name)
    choice.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    choice.setMinimumContentsLength(fewest_letters)
    return choice


def _field(field: QWidget) -> QWidget:
    label = Label(field.accessibleName(), "quiet")
    label.setBuddy(field)
    return boxed(column(label, field, gap=TINY))


class CheckPanel(QWidget):
    """`show_items` gets the numbers of texts that would be refused; `changed` is called after a choice."""

    def __init__(self, changed: Callable[[], object], show_items: Callable[[tuple[int, ...]], object]) -> None:
        super().__init__()
        self._show_items = show_items
        self.line = Label("", "body", wrap=True)
        self.progress = ThinProgress()
        size_policy = self.progress.sizePolicy()
        size_policy.setRetainSizeWhenHidden(True)
        self.progress.setSizePolicy(size_policy)
        self.gone = CheckBox("")
        self._gone_by = Label("", "small", wrap=True)
        self.everything = CheckBox("")
        for box in (self.gone, self.everything):
            box.clicked.connect(lambda _: changed())
        self.bars: list[NoticeBar] = []
        self._bars = column()
        self.setLayout(column(self.line, self.progress, self._bars, self.gone, self._gone_by, self.everything))
        self.begin()

    def begin(self) -> None:
        for box in (self.gone, self.everything):
            box.setChecked(False)
        self._show_problems(())
        for part in (self.gone, self._gone_by, self.everything):
            part.hide()
        self.show_reading(0, 0)

    def show_reading(self, done: int, total: int) -> None:
        self.line.setText(self.tr("Looking at the vectors, before anything is sent…"))
        self.progress.set_parts(done, total)
        self.progress.show()

    def show_failure(self, sentence: str) -> None:
        self.progress.hide()
        self.line.setText(sentence)

    def show_check(self, check: PushCheck, *, is_new: bool) -> None:
        self.progress.hide()
        refused = self.tr("Vectorize would refuse this as it is. Nothing was sent.")
        self.line.setText(refused if check.problems else " ".join(map(said, check.sentences())))
        self._show_problems(check.problems, check.notes)
        some_gone = bool(check.gone) and not is_new
        self.gone.setVisible(some_gone)
        self.gone.setText(
            display.plural(
                check.gone,
                "{n} is gone from the file; take it out of the index",
                "{n} are gone from the file; take them out of the index",
            )
        )
        jobs = [f"{short_name(name)}: {display.number(count)}" for name, count in check.gone_by_job]
        self._gone_by.setText(self.tr("They were sent with {jobs}.").format(jobs=display.listed(jobs)))
        self._gone_by.setVisible(some_gone and bool(jobs))
        held = 0 if is_new else check.unchanged
        self.everything.setVisible(held > 0)
        self.everything.setText(
            display.plural(
                held,
                "Send it again, too, although it is in the index unchanged",
                "Send the {n} again, too, that are in the index unchanged",
            )
        )

    def _show_problems(self, problems: Sequence[PushProblem], notes: Sequence[str] = ()) -> None:
        for bar in self.bars:
            self._bars.removeWidget(bar)
            bar.hide()
            bar.deleteLater()
        of_problems = [NoticeBar(said(problem.sentence), "attention") for problem in problems]
        self.bars = [*(NoticeBar(said(note), "info") for note in notes), *of_problems]
        for bar in self.bars:
            self._bars.addWidget(bar)
        for problem, bar in zip(problems, of_problems, strict=True):
            if problem.rows:
                words = (
                    self.tr("Show rows")
                    if problem.count <= len(problem.rows)
                    else self.tr("Show the first {n}").format(n=display.number(len(problem.rows)))
                )
                bar.add_link(words, partial(self._show_items, problem.items))
        follow_in_tab_order(self, *(link for bar in self.bars for link in bar.links()))


CHECK, _LIST = "check", "indexes"  # names of tasks
_RESTING = 0.35  # seconds after the last change, before the vectors are looked at
_MOST_COUNTED = 20  # indexes of which the number of vectors is asked for


class PushForm(QWidget):
    """Looks for the account's indexes, and at what a job would send there, by `tasks` of its page.

    `changed` is called when more is known about it; `show_items` as by `CheckPanel`.
    """

    def __init__(
        self,
        program: Program,
        tasks: Tasks,
        *,
        changed: Callable[[], object],
        show_items: Callable[[tuple[int, ...]], object],
    ) -> None:
        super().__init__()
        self._program, self._tasks, self._tell = program, tasks, changed
        self._known: JobVectors | None = None
        self._check: PushCheck | None = None
        self.has_failed = False  # the last question for the account's indexes
        self._proposed = Saying("info")
        self.index = IndexChoice(self._look_again, changed)
        self.columns = ColumnChoices(self._columns_changed)
        self.check = CheckPanel(changed, show_items)
        cards = [
            Card(Label(self.tr("Into which index"), "strong"), self.index),
            Card(Label(self.tr("What is sent"), "strong"), self._proposed, self.columns),
            Card(Label(self.tr("Before anything is sent"), "strong"), self.check),
        ]
        self.setLayout(column(*cards, None, gap=MEDIUM, margins=PAGE_MARGINS))

    def begin(self, known: JobVectors, push: Push | None) -> None:
        """For a job, as `push` was sent, or else as the version before the job was."""
        self._known, self._check = known, None
        like = push or known.before
        options = within(like.options, known.columns) if like is not None else PushOptions()
        as_before = self.tr("As “{job}” was sent.").format(job=short_name(known.before_name))
        self._proposed.set_line(as_before if push is None and like is not None else "")
        self.index.begin(known)
        self.columns.offer(known.columns, has_ids=known.has_ids, options=options)
        self.check.begin()
        self._tell()
        self.list_indexes(like.index if like is not None else "")
        self._tasks.start(CHECK, self._look(0.0))

    def is_of(self, job: Job) -> bool:
        return self._known is not None and self._known.job.id == job.id

    def stop(self) -> None:
        self._known = None
        self._tasks.cancel(CHECK)
        self._tasks.cancel(_LIST)

    def list_indexes(self, wanted: str) -> None:
        self._tasks.start(_LIST, self._list(wanted))

    def options(self) -> PushOptions:
        is_there = self.index.index() is not None
        gone = self._check.gone if self._check is not None else 0
        return msgspec.structs.replace(
            self.columns.options(),
            delete_removed=is_there and gone > 0 and self.check.gone.isChecked(),
            everything=is_there and self.check.everything.isChecked(),
        )

    def is_checked(self) -> bool:
        return self._check is not None

    def to_send(self) -> int:
        check = self._check
        if check is None or check.problems:
            return 0
        is_all = self.index.index() is None or self.options().everything
        return check.vectors if is_all else check.new + check.changed

    def to_delete(self) -> int:
        return self._check.gone if self._check is not None and self.options().delete_removed else 0

    def why_not(self) -> str:
        if problem := self.index.problem():
            return problem
        check = self._check
        if check is None:
            return self.tr("The vectors are still being looked at.")
        if check.problems:
            return self.tr("What Vectorize would refuse has to be changed first.")
        if not self.to_send() and not self.to_delete():
            return self.tr("Everything is in the index as it is.")
        return ""

    def send_words(self) -> str:
        send, delete = self.to_send(), self.to_delete()
        if delete and not send:
            return display.plural(delete, "Take out {n} vector", "Take out {n} vectors")
        return display.plural(send, "Send {n} vector", "Send {n} vectors") if send else self.tr("Send vectors")

    def size_words(self) -> str:
        return self.tr("What is accepted stays in the index, whatever comes after it.") if self.to_send() else ""

    def _columns_changed(self) -> None:
        self._proposed.hide()
        self._look_again()

    def _look_again(self) -> None:
        self._check = None
        self.check.show_reading(0, 0)
        self._tasks.start(CHECK, self._look(_RESTING))
        self._tell()

    async def _list(self, wanted: str) -> None:
        known = self._known
        if known is None:
            return
        calls = self._program.vectorize.calls(known.connection.id)
        self.has_failed = True
        found = await calls.list_indexes()
        self.has_failed = False
        self.index.offer(found, wanted)
        counts: dict[str, int] = {}
        possible = [each for each in found if fits(each, known.dimension)]
        with suppress(UserError):  # the list is there; only the numbers are missing
            for each in possible[:_MOST_COUNTED]:
                counts[each.name] = (await calls.info(each.name)).vector_count
                self.index.show_counts(counts)

    async def _look(self, resting: float) -> None:
        """Look at what would be sent, after some seconds of rest."""
        await asyncio.sleep(resting)
        known, index = self._known, self.index.index()
        if known is None:
            return
        # The name of a new index may be half typed, and what it is called changes nothing about the vectors.
        name = index.name if index is not None else self.index.proposed()

        def show(progress: PushProgress) -> None:
            if self._check is None:
                self.check.show_reading(progress.done, progress.total)

        try:
            self._check = await self._program.vectorize.check(
                *(known.job.id, known.connection.id, name, self.options()), index=index or VectorizeIndex(), show=show
            )
        except UserError as error:
            self._check = None
            self.check.show_failure(said(error.message))
        else:
            self.check.show_check(self._check, is_new=index is None)
            self.columns.show_numbers(self._check.numbers)
        self._tell()


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
