"""`submissions.jsonl`: a line for each batch that the service accepted, beside the ledger and independent of it.

The service has no list of jobs: a request id that is lost is a paid job lost. The ids are here even if the ledger is
not.
"""

from pathlib import Path

import msgspec

from cfbatch_gui.core.errors import DataError
from cfbatch_gui.core.system.files import append_line_durably


class Submission(msgspec.Struct, frozen=True):
    """What is needed to find a batch again. `time` in seconds since 1970, UTC."""

    attempt: str
    request_id: str
    sha256: str
    time: float
    job_id: str = ""
    batch: int = 0
    connection: str = ""
    model: str = ""


def write_down(path: Path, *submissions: Submission) -> None:
    """Add a line for each; when this returns, they are on the disk. Raises DiskFull and DataError."""
    append_line_durably(path, b"\n".join(msgspec.json.encode(each) for each in submissions))


def recovered(path: Path, attempt: str) -> str:
    """The request id that an attempt got, "" when none was written down."""
    for submission in submissions(path):
        if submission.attempt == attempt:
            return submission.request_id
    return ""


def submissions(path: Path) -> list[Submission]:
    """All lines; those that a crash tore are passed over. Raises DataError."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise DataError(
            f"“{path.name}”, which holds the ids of your batches, could not be read. Is a permission missing in the"
            " program's own folder? Nothing was lost; carry on once that is mended.",
            detail=f"{path.name}: {error.strerror}",
        ) from error
    found = []
    decoder = msgspec.json.Decoder(Submission)
    for line in data.splitlines():
        try:
            found.append(decoder.decode(line))
        except msgspec.DecodeError:
            continue
    return found
