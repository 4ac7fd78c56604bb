"""The state of each draft that was shown: its file, its columns' roles, and what sending it comes to."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.inputs.file_rows import preview
from cfbatch_gui.core.inputs.input_values import Kind, Mapping, ReadOptions, Role, Row, Source
from cfbatch_gui.core.inputs.layouts import check_mapping, missing_file
from cfbatch_gui.core.inputs.recipes import FileKind
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.inputs.suggest import suggest_mapping
from cfbatch_gui.core.jobs.plan.candidate_offers import CandidateOffer
from cfbatch_gui.core.jobs.plan.preflight import Preflight
from cfbatch_gui.core.jobs.plan.spending import Spent
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.ui.state_names import DraftPhase, kept_phase
from cfbatch_gui.ui.tasks import Tasks

PREVIEW_ROWS = 200
MOST_PREVIEWED = 100_000  # rows, when more are asked for; they are in memory
DEFAULT_OPTIONS = ReadOptions()


@dataclass(frozen=True, slots=True)
class OpenFile:
    """`options` holds what the user has set; `likely` is the kind that the columns suggest.

    Files with an equal `seen_as` are of the same kind.
    """

    source: Source
    sample: tuple[Row, ...]
    options: ReadOptions
    as_ranking: Mapping
    as_texts: Mapping
    likely: Kind
    seen_as: FileKind

    def guess(self, kind: Kind | None) -> Mapping:
        return self.as_ranking if (kind or self.likely) is Kind.RANK else self.as_texts

    def with_chosen_encoding(self) -> "OpenFile":
        source = replace(self.source, is_encoding_guessed=False, other_encodings=())
        return replace(self, source=source, options=self.options.in_encoding(self.source.encoding))

    @property
    def path(self) -> Path:
        return self.source.path

    def with_doubtful(self, *, sent: bool) -> "OpenFile":
        return replace(
            self, source=replace(self.source, sends_doubtful=sent), options=replace(self.options, sends_doubtful=sent)
        )


def open_file(path: Path, options: ReadOptions = DEFAULT_OPTIONS) -> OpenFile:
    """Recognise a file and read its first rows; it may read all of a text file. Raises InputError, UsageError."""
    source = open_source(path, options)
    sample = preview(source, PREVIEW_ROWS)
    return OpenFile(
        source,
        sample,
        options,
        as_ranking=suggest_mapping(source, Kind.RANK, sample),
        as_texts=suggest_mapping(source, Kind.EMBED, sample),
        likely=suggest_mapping(source, None, sample).kind,
        seen_as=FileKind.of(source),
    )


@dataclass(frozen=True, slots=True)
class EncodingQuestion:
    """Which encoding the file is in; it is now read in that of its source."""

    file: OpenFile
    is_second: bool


@dataclass(frozen=True, slots=True)
class DraftState:
    """`is_read`: the job's data was read as `file`, `second` and `mapping` say.

    `opening` is the name of a file being recognised; `missing` says why it cannot be opened any more. `as_before`: the
    mapping chosen for the last file of this kind. `spent` is what was sent today.
    """

    kind: Kind | None = None  # None: neither chosen nor guessed yet
    is_chosen: bool = False  # the user chose the kind; otherwise the next file opened may change it
    file: OpenFile | None = None
    second: OpenFile | None = None
    mapping: Mapping | None = None
    question: EncodingQuestion | None = None
    opening: str = ""
    missing: str = ""
    is_saving: bool = False  # a change of the job's settings is being written
    is_reading: bool = False
    is_read: bool = False
    trouble: str = ""
    preflight: Preflight | None = None
    as_before: bool = False
    spent: Spent = field(default_factory=Spent)
    offers: tuple[CandidateOffer, ...] = ()

    @property
    def has_data(self) -> bool:
        return self.file is not None or bool(self.missing)

    @property
    def incomplete(self) -> str:
        if self.file is None or self.mapping is None:
            return ""
        return check_mapping(self.mapping, self.file.source, self._second)

    @property
    def missing_file(self) -> Role | None:
        """What a second file could hold to complete the mapping."""
        return None if self.file is None or self.mapping is None else missing_file(self.mapping, self._second)

    @property
    def _second(self) -> Source | None:
        return self.second.source if self.second else None


class DraftStates(QObject):
    """The states of all drafts that were shown, in the loop's thread; the signals carry a job's id."""

    changed = Signal(str)
    job_changed = Signal(str)

    def __init__(self, program: Program, on_error: Callable[[UserError], None], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._program = program
        self._states: dict[str, DraftState] = {}
        self.current = ""  # the id of the draft that the page shows
        self.on_error = on_error
        self.tasks = Tasks(self, on_error)

    def __contains__(self, job_id: str) -> bool:
        return job_id in self._states

    def state(self, job_id: str) -> DraftState:
        return self._states.get(job_id, DraftState())

    def shown(self) -> tuple[str, DraftState]:
        return self.current, self.state(self.current)

    def phase(self, job_id: str) -> DraftPhase:
        state = self.state(job_id)
        if state.opening or state.is_reading:
            return DraftPhase.READING
        if state.question is not None or state.incomplete or state.trouble:
            return DraftPhase.INCOMPLETE
        return kept_phase(self.job(job_id))

    def job(self, job_id: str) -> Job:
        return self._program.ledger.job(job_id)

    def add(self, job_id: str, state: DraftState) -> None:
        self._states[job_id] = state

    def set(self, job_id: str, state: DraftState) -> None:
        """Ignored for a draft that is not held, such as one deleted meanwhile."""
        if job_id in self._states:
            self._states[job_id] = state
            self.changed.emit(job_id)

    def forget(self, job_id: str) -> None:
        self.tasks.cancel(f"open {job_id}")
        self.tasks.cancel(f"read {job_id}")
        self.tasks.cancel(f"offers {job_id}")
        self._states.pop(job_id, None)
