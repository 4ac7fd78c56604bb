"""`submissions.jsonl`: a line before each batch leaves and one when it was accepted, beside the ledger and independent
of it.

The service has no list of jobs: a request id that is lost is a paid job lost. The ids are here even if the ledger is
not, and an older ledger that is put back learns here what was sent after it was copied. Each line is a JSON object
whose last value is the CRC-32 of the bytes before it.
"""

import zlib
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from cfbatch_gui.core.errors import DataError
from cfbatch_gui.core.jobs.states import Batch, Job
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.system.files import append_line_durably, write_own_file

_END: Final = len(b',"crc32":"00000000"}')


class Event(StrEnum):
    SENDING = "sending"  # written before the first byte leaves
    ACCEPTED = "accepted"
    NOT_ACCEPTED = "not accepted"  # it was refused, or no byte of it left
    GIVEN_UP = "given up"  # the id that the user had found for it is another batch's


class Submission(msgspec.Struct, frozen=True, omit_defaults=True):
    """One line. `time` in seconds since 1970, UTC; `request_id` is "" unless the batch was accepted."""

    attempt: str
    request_id: str
    sha256: str
    time: float
    job_id: str = ""
    batch: int = 0
    connection: str = ""
    model: str = ""
    event: Event = Event.ACCEPTED
    adopted: bool = False  # the user found the id


class Written(NamedTuple):
    """The whole lines in their order, and how many are damaged. A last one without its end was cut short by a crash."""

    lines: tuple[Submission, ...] = ()
    damaged: int = 0


def accepted_of(lines: Sequence[Submission]) -> Submission | None:
    """The last of a batch's lines that tells of an id, unless that was given up."""
    given_up = {line.request_id for line in lines if line.event is Event.GIVEN_UP}
    accepted = (line for line in lines if line.event is Event.ACCEPTED and line.request_id not in given_up)
    return next(reversed(tuple(accepted)), None)


def write_down(path: Path, *submissions: Submission) -> None:
    """Add a line for each; when this returns, they are on the disk. Raises DiskFull and DataError."""
    append_line_durably(path, b"\n".join(map(_encode, submissions)))


def submission_of(job: Job, batch: Batch, time: float, event: Event = Event.ACCEPTED) -> Submission:
    """What is written down of a batch. `time` in seconds since 1970."""
    return Submission(
        attempt=batch.attempt,
        request_id=batch.request_id,
        sha256=batch.sha256,
        time=time,
        job_id=job.id,
        batch=batch.number,
        connection=job.connection,
        model=job.model,
        event=event,
        adopted=batch.adopted,
    )


def recovered(path: Path, attempt: str) -> str:
    """The request id that an attempt got, "" when none was written down. Raises DataError."""
    accepted = accepted_of([line for line in read_submissions(path).lines if line.attempt == attempt])
    return accepted.request_id if accepted else ""


def submissions(path: Path) -> list[Submission]:
    """All lines that tell of an accepted batch and are as they were written. Raises DataError."""
    return [each for each in read_submissions(path).lines if each.event is Event.ACCEPTED]


def read_submissions(path: Path) -> Written:
    """All lines of a file of any content. Raises DataError when the system does not let it be read."""
    *whole, rest = _contents(path).split(b"\n")
    found = [_read(line) for line in whole if line.strip()]
    lines = [line for line in (*found, _read(rest)) if line is not None]  # the rest may lack no more than its end
    return Written(tuple(lines), found.count(None))


def put_damage_aside(path: Path, whole: Sequence[Submission], name: str) -> None:
    """Keep the file as it is under another name, and put the whole lines in its place. Raises DiskFull, DataError."""
    write_own_file(path.with_name(name), _contents(path))
    write_own_file(path, b"".join(_encode(line) + b"\n" for line in whole))


def _contents(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise DataError(
            message("name_holds_ids_your_batches_could", name=path.name), detail=f"{path.name}: {error.strerror}"
        ) from error


def _encode(submission: Submission) -> bytes:
    data = msgspec.json.encode(submission)
    return data[:-1] + _end(data)


def _end(data: bytes) -> bytes:
    return b',"crc32":"%08x"}' % zlib.crc32(data)


def _read(line: bytes) -> Submission | None:
    """None for a line that is not as it was written."""
    data = line[:-_END] + b"}"
    if line[-_END:] != _end(data):
        return None
    try:
        return _decoder.decode(data)
    except (ValueError, RecursionError):  # also for bytes that are not UTF-8
        return None


_decoder = msgspec.json.Decoder(Submission)
