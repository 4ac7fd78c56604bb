"""The steps of an export, and its manifest, which never holds the token, the account id or a path."""

import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from cfbatch_gui import __version__
from cfbatch_gui.core.errors import ExportError, UsageError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder import schema
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.jobs.verifying import complete_results
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results.exports.base import ExportOptions, Progress, Steps, Target, Work
from cfbatch_gui.core.results.exports.targets import target_for
from cfbatch_gui.core.results.matches import Decision, Matches
from cfbatch_gui.core.results.outcomes import OutcomeCounts, column_mapping, count_items, origins
from cfbatch_gui.core.system.files import flush_folder, remove_file, write_atomically

FORMAT_VERSION = 1
TIE_RULE = (
    "Exactly equal scores share a rank, and the next rank counts all before it (1, 2, 2, 4); contexts of a tie stand by"
    " descending id, as trec_eval orders them; texts without an id have one made of their row."
)


def manifest_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.manifest.json")


def remove_manifest(path: Path) -> None:
    """Remove the manifest of the file that is about to be replaced. Raises OSError and DataError."""
    target = Path(os.path.realpath(manifest_path(path)))
    if target.exists():
        remove_file(target)
        flush_folder(target.parent)  # else a power failure may bring it back beside the new file


def _manifest(work: Work, counts: OutcomeCounts, export: object, now: float) -> bytes:
    """Never with a token, an account id or a path. Raises DataError."""
    job, folder = work.job, work.folder
    is_ranking = job.kind is Kind.RANK
    with folder.open(read_only=True) as database:
        columns, pooling = column_mapping(database), schema.metadata_value(database, "pooling", "")
    earlier = [
        {"id": each.job_id, "name": each.job_name, "request_id": each.request_id}
        | {"sent_at": _utc(each.sent_at), "texts": each.texts}
        for each in origins(folder)
    ]
    content = {
        "format_version": FORMAT_VERSION,
        "program": f"CF Batch {__version__}",
        "written_at": _utc(now),
        "export": export,
        "job": {
            **{name: getattr(job, name) for name in ("id", "name", "kind", "model")},
            "connection": work.connection,
            "sent_at": _utc(job.sent_at),
            "truncate_inputs": job.options.truncate_inputs,
            "request_ids": [batch.request_id for batch in job.batches if batch.request_id],
            "usage_tokens": job.tokens,
            "taken_from_earlier_jobs": earlier,
            **({"tie_rule": TIE_RULE} if is_ranking else {"pooling": pooling or job.options.pooling}),
        },
        "source": {"name": job.source_name, "sha256": job.source_sha256, "columns": columns},
        "rows": {"in": job.rows_in, "items": counts.items, **asdict(counts)},
    }
    return json.dumps(content, ensure_ascii=False, indent=2).encode() + b"\n"


def _utc(seconds: float) -> str:
    """A time for people and programs; "" for 0.0, which is none."""
    if not seconds:
        return ""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


_SEPARATORS = (",", ";", "\t", "|")


@dataclass(frozen=True, slots=True)
class Exported:
    """A finished export; `files` are without the manifest."""

    path: Path
    format: str
    rows: int
    manifest: Path
    files: tuple[Path, ...]
    counts: OutcomeCounts
    next_command: str = ""


def export(
    folder: JobFolder,
    job: Job,
    path: Path,
    target: Target | None = None,
    *,
    options: ExportOptions | None = None,
    connection: str = "",
    say: Callable[[str], str] = str,
    decided: Callable[[str], Decision | None] = lambda text: None,
    matches: Matches | None = None,
    progress: Progress | None = None,
    note: Mapping[str, object] | None = None,
    clock: Callable[[], float] = time.time,
) -> Exported:
    """Write the results to `path`, whole or not at all; without a target by its suffix. What the data lacks is put back
    from the answers first.

    Blocking, with constant memory use. `connection` is the title of the job's; `decided` gives what was decided about a
    text of list A, unless the `matches` are known; `progress` gets (done, total) and may raise; `note` is added to the
    manifest. Raises UsageError, ExportError, DiskFull and DataError.
    """
    target = target or target_for(path, job.kind, purpose=job.purpose)
    options = options or ExportOptions()
    _check(job, target, options)
    complete_results(folder, job)
    with folder.open(read_only=True) as database:
        counts = count_items(database, job.failed_batches)
    if target.needs_results and not counts.done:
        raise ExportError(message("there_is_nothing_write_yet_no"))
    steps = Steps(counts.items + counts.skipped, progress)

    def end() -> None:
        remove_manifest(path)

    work = Work(folder, job, path, options, steps, end, say, connection, decided, matches)
    written = target.write(work)
    # Without it beside the file, a CSV whose formulas were made harmless could not be read again as it was.
    is_beside = not target.is_for_people or _has_marks(written.notes)
    manifest = manifest_path(path) if is_beside else folder.path / "exports" / manifest_path(path).name
    manifest.parent.mkdir(exist_ok=True)
    section = {
        "format": target.name,
        "files": [file.relative_to(path).as_posix() if path in file.parents else file.name for file in written.files],
        "rows": written.rows,
        "complete": counts.is_complete,
        "top_k": options.top_k,
        "threshold": options.threshold,
        "chosen": None if options.items is None else len(options.items),
        **({"order": "of the file"} if options.in_own_order and target.is_workbook else {}),
        **(note or {}),
        **written.notes,
    }
    write_atomically(manifest, _manifest(work, counts, section, clock()))
    return Exported(path, target.name, written.rows, manifest, written.files, counts, written.next_command)


def _has_marks(notes: Mapping[str, object]) -> bool:
    parts = (notes, *(each for each in notes.values() if isinstance(each, dict)))
    found = (each.get("formulas_made_harmless") for each in parts)
    return any(isinstance(each, dict) and each["cells"] for each in found)


def _check(job: Job, target: Target, options: ExportOptions) -> None:
    if job.kind is not target.kind:
        raise UsageError(
            message(
                "format_is_results_job_none_choose",
                format=target.title,
                results=message("rankings") if target.kind is Kind.RANK else message("embeddings"),
            )
        )
    if options.top_k is not None and options.top_k < 1:
        raise UsageError(message("top_k_must_be_1_or"))
    if options.separator not in _SEPARATORS:
        raise UsageError(message("list_separator_must_be_comma_semicolon"))
    if (job.kind is Kind.RANK or target.is_of_matches) and options.columns == ():
        raise UsageError(message("choose_least_one_column_nothing_was"))
