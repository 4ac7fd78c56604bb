"""What a push is asked for, what it goes by, what is found before it, how far it is, and how it ended."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum, StrEnum

import msgspec

from cfbatch_gui.core.messages import Message, message
from cfbatch_gui.core.vectorize.client import PART_BYTES
from cfbatch_gui.core.workers_ai.client import Sleep
from cfbatch_gui.core.workers_ai.limits import MAX_UPLOAD_VECTORS


class IdSource(StrEnum):
    """Where the ids of vectors come from."""

    OWN = "own"  # the job's ids, or row numbers where the file has none
    ROWS = "rows"
    COLUMN = "column"


class MetadataColumn(msgspec.Struct, frozen=True):
    """A column that is sent as metadata, under the name `key`."""

    column: str
    key: str


class PushOptions(msgspec.Struct, frozen=True):
    """What of a job goes into an index.

    Metadata of plain numbers are sent as numbers unless `numbers_as_text`; `delete_removed` deletes only what earlier
    pushes have put there.
    """

    ids: IdSource = IdSource.OWN
    id_column: str = ""
    namespace: str = ""
    metadata: tuple[MetadataColumn, ...] = ()
    numbers_as_text: bool = False
    delete_removed: bool = False
    everything: bool = False


@dataclass(frozen=True, slots=True)
class PushProblem:
    """Why vectors would be refused, and the way out.

    `rows` are the first of the `count` rows of the file, or none, and `items` the numbers of their texts.
    """

    sentence: str
    count: int = 0
    rows: tuple[int, ...] = ()
    items: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class PushCheck:
    """What a push would send; it can start without `problems`.

    `new`, `changed` and `unchanged` are against this program's pushes, `gone` counts what this job does not hold.
    """

    vectors: int = 0
    without_vector: int = 0
    dimension: int = 0
    new: int = 0
    changed: int = 0
    unchanged: int = 0
    gone: int = 0
    gone_by_job: tuple[tuple[str, int], ...] = ()
    numbers: tuple[str, ...] = ()
    problems: tuple[PushProblem, ...] = ()
    notes: tuple[str, ...] = ()

    def sentences(self) -> Iterator[Message]:
        words = message("send_new_new_changed_changed_held")
        yield words.filled(new=self.new, changed=self.changed, held=self.unchanged)
        if self.without_vector:
            yield message("n_texts_no_vector_are_left", n=self.without_vector)


class PushStage(Enum):
    """The steps of a push, in their order, and what is said of each."""

    READING = message("reading_vectors_done_total")  # to find what is to be sent
    SENDING = message("sending_done_total_vectors")
    DELETING = message("deleting_done_total_vectors")
    PROCESSING = message("index_is_taking_what_was_sent")  # what it has accepted
    COMPARING = message("comparing_index_done_total_vectors")


@dataclass(frozen=True, slots=True)
class PushProgress:
    """`done` of `total` vectors of the stage, 0 while the index processes them; `waiting` says why."""

    stage: PushStage = PushStage.READING
    done: int = 0
    total: int = 0
    waiting: str = ""
    waiting_seconds: float = 0.0

    @property
    def sentence(self) -> Message:
        return self.stage.value.filled(done=self.done, total=self.total)


class PushOutcome(StrEnum):
    """How far a push came, or how it ended; the value that is kept."""

    SENDING = "sending"  # it is running, or was interrupted
    SENT = "sent"  # all was accepted, and nothing is known of whether the index has taken it in
    VERIFIED = "verified"
    NOT_YET = "not yet"  # the index had not processed all when the time for waiting was over
    DIFFERENT = "different"  # vectors are missing in the index, or have other values


class Push(msgspec.Struct, frozen=True, omit_defaults=True):
    """The last push of a job into one index.

    Times are in seconds since 1970, 0.0 for not yet. Of `compared` vectors read back `missing` were not there and
    `different` had other values.
    """

    index: str
    connection: str
    account_mark: str
    options: PushOptions
    outcome: PushOutcome
    vectors: int
    acknowledged: int = 0
    sent: int = 0
    deleted: int = 0
    last_mutation: str = ""
    started_at: float = 0.0
    ended_at: float = 0.0
    checked_at: float = 0.0
    in_index: int = 0
    expected: int = 0
    compared: int = 0
    missing: int = 0
    different: int = 0
    failure: str = ""
    notes: tuple[str, ...] = ()

    @property
    def is_whole(self) -> bool:
        return self.outcome is not PushOutcome.SENDING

    @property
    def sentence(self) -> Message:
        """How far it came, for people."""
        return _OUTCOMES[self.outcome][0].filled(done=self.acknowledged, total=self.vectors, index=self.index)

    @property
    def finding(self) -> Message:
        """What was found when it was compared; without the time since then, which a face adds from `checked_at`."""
        read = {"n": self.compared, "missing": self.missing, "different": self.different}
        if self.missing or self.different:
            return _OTHER_VALUES.filled(**read)
        return _OUTCOMES[self.outcome][1].filled(**read, found=self.in_index, expected=self.expected)


_OTHER_VALUES = message("n_read_back_missing_are_missing")
# How far it came, and what was found when it was compared.
_OUTCOMES = {
    PushOutcome.SENDING: (message("done_total_were_sent_index"), message("what_is_missing_can_be_sent")),
    PushOutcome.SENT: (message("total_were_sent_index"), message("whether_they_are_was_not_checked")),
    PushOutcome.VERIFIED: (message("total_total_are_index"), message("was_counted_n_vectors_were_read")),
    PushOutcome.NOT_YET: (message("index_not_taken_all_total_yet"), message("can_take_minutes_check_again_later")),
    PushOutcome.DIFFERENT: (
        message("index_does_not_hold_what_was"),
        message("counts_found_vectors_expected_were_sent"),
    ),
}


@dataclass(frozen=True, slots=True)
class Hit:
    """`text` is None for a vector of another job."""

    id: str
    score: float
    text: str | None


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What the index finds, and the nearest in the job by exact comparison of cosines."""

    hits: tuple[Hit, ...]
    exact: tuple[Hit, ...]

    @property
    def shared(self) -> int:
        return len({each.id for each in self.hits} & {each.id for each in self.exact})

    @property
    def sentence(self) -> Message:
        if any(each.text is None for each in self.hits):
            return message("index_also_holds_vectors_are_not")
        return message(
            "shared_found_are_also_among_exact", shared=self.shared, found=len(self.hits), exact=len(self.exact)
        )


Show = Callable[[PushProgress], None]


@dataclass(frozen=True, slots=True)
class PushSettings:
    """`clock` returns seconds since 1970."""

    clock: Callable[[], float]
    sleep: Sleep = asyncio.sleep
    most_vectors: int = MAX_UPLOAD_VECTORS
    most_bytes: int = PART_BYTES
