"""The manifest of an export, a JSON file in the same folder: its origin, its options and its counts.

It never holds the token, the account id, or a path of this computer.
"""

import json
import os
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from cfbatch_gui.core.errors import ExportError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder import schema
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results.job_metadata import JobMetadata
from cfbatch_gui.core.results.original_columns import column_mapping
from cfbatch_gui.core.results.origins import origins
from cfbatch_gui.core.results.outcomes import OutcomeCounts, count_items
from cfbatch_gui.core.system.files import PART_PREFIX, flush_folder, noted, write_atomically

FORMAT_VERSION = 1
TIE_RULE = (
    "Exactly equal scores share a rank, and the next rank counts all before it (1, 2, 2, 4); contexts of a tie stand by"
    " descending id, as trec_eval orders them; texts without an id have one made of their row."
)


def manifest_path(path: Path) -> Path:
    """The path of the manifest of an export at `path`."""
    return path.with_name(f"{path.name}.manifest.json")


@contextmanager
def old_manifest(path: Path) -> Iterator[Callable[[], None]]:
    """Give a function that moves the old manifest of `path` away, to be called before the file is replaced.

    So no file ever has the manifest of another, even if the program is killed or the power fails. If the block raises,
    the old manifest is moved back; otherwise it is deleted. The function raises ExportError, DiskFull and DataError.
    """
    target = Path(os.path.realpath(manifest_path(path)))
    part = target.with_name(f"{PART_PREFIX}{secrets.token_hex(8)}.part")

    def step_aside() -> None:
        try:
            target.rename(part)
        except FileNotFoundError:
            return
        except OSError as error:
            raise ExportError(
                message(
                    "“{name}”, which speaks of the older file, could not be replaced. Close it where it is open, or "
                    "choose another place.",
                    name=target.name,
                ),
                detail=f"{target}: {error.strerror}",
            ) from error
        flush_folder(target.parent)  # else a power failure may bring it back beside the new file

    with noted(part):
        try:
            yield step_aside
        except BaseException:
            with suppress(OSError):
                part.rename(target)
            raise
        finally:
            with suppress(OSError):
                part.unlink()


def kept_manifest_path(path: Path, folder: JobFolder) -> Path:
    """Where the manifest of a file for people is kept: with the job, out of their way."""
    return folder.path / "exports" / f"{path.name}.manifest.json"


def write_manifest(
    target: Path,
    metadata: JobMetadata,
    folder: JobFolder,
    counts: OutcomeCounts,
    export: Mapping[str, object],
    *,
    now: float,
) -> Path:
    """Write the manifest of an export to `target`; `export` is its section "export". Raises DiskFull, ExportError."""
    content = {
        "format_version": FORMAT_VERSION,
        "program": f"CF Batch {metadata.program_version}".rstrip(),
        "written_at": _utc(now),
        "export": export,
        "job": _job(metadata, folder),
        "source": {
            "name": metadata.source_name,
            "sha256": metadata.source_sha256,
            "columns": _mapping(folder),
        },
        "rows": {
            "in": metadata.rows_in,
            "items": counts.items,
            "done": counts.done,
            "failed": counts.failed,
            "waiting": counts.waiting,
            "left_out": counts.left_out,
            "skipped": counts.skipped,
            "doubtful_sent": counts.doubtful_sent,
        },
    }
    write_atomically(target, json.dumps(content, ensure_ascii=False, indent=2).encode() + b"\n")
    return target


def about(metadata: JobMetadata, folder: JobFolder, say: Callable[[str], str]) -> Iterator[tuple[str, str]]:
    """What people want to know of the origin of a workbook, as rows (name, value); the manifest has the rest.

    The time of the export is left out, so that two exports of the same results are identical.
    """
    is_ranking = metadata.kind is Kind.RANK
    yield say(message("Made with")), f"CF Batch {metadata.program_version}".rstrip()
    yield say(message("Job")), metadata.name
    yield say(message("File")), metadata.source_name
    yield say(message("Model")), metadata.model
    yield say(message("Connection")), metadata.connection
    if metadata.sent_at:
        yield say(message("Sent")), f"{datetime.fromtimestamp(metadata.sent_at, UTC):%Y-%m-%d %H:%M} UTC"
    with folder.open(read_only=True) as database:
        counts = count_items(database, metadata.failed_batches)
    yield say(message("Texts with a score") if is_ranking else message("Texts with a vector")), str(counts.done)
    missing = {
        message("Failed"): counts.failed,
        message("Not back yet"): counts.waiting,
        message("Left out"): counts.left_out + counts.skipped,
        message("Sent although doubtful"): counts.doubtful_sent,
    }
    yield from ((say(name), str(count)) for name, count in missing.items() if count)
    if is_ranking:
        yield (
            say(message("Ranks")),
            say(message("Equal scores share a rank, and the next rank counts all before it: 1, 2, 2, 4.")),
        )
        yield say(message("Scores")), say(message("Compare scores within one query; they are not percentages."))


def _job(metadata: JobMetadata, folder: JobFolder) -> dict[str, object]:
    job: dict[str, object] = {
        "id": metadata.id,
        "name": metadata.name,
        "kind": metadata.kind.value,
        "model": metadata.model,
        "connection": metadata.connection,
        "sent_at": _utc(metadata.sent_at) if metadata.sent_at else "",
        "truncate_inputs": metadata.truncate_inputs,
        "request_ids": [found for _, found in sorted(metadata.request_ids.items()) if found],
        "usage_tokens": metadata.usage_tokens,
        "taken_from_earlier_jobs": [
            {
                "id": each.job_id,
                "name": each.job_name,
                "request_id": each.request_id,
                "sent_at": _utc(each.sent_at) if each.sent_at else "",
                "texts": each.texts,
            }
            for each in origins(folder)
        ],
    }
    if metadata.kind is Kind.RANK:
        return {**job, "tie_rule": TIE_RULE}
    with folder.open(read_only=True) as database:
        answered = schema.metadata_value(database, "pooling", "")
    return {**job, "pooling": answered or metadata.pooling}


def _mapping(folder: JobFolder) -> dict[str, dict[str, str]]:
    with folder.open(read_only=True) as database:
        return column_mapping(database)


def _utc(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
