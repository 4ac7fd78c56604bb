"""Jobs before they are sent: created, filled from a file, changed, copied and deleted; and whether another reading of a
file whose encoding was guessed would send other texts. Makes no network calls.
"""

import logging
import secrets
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial, reduce
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from cfbatch_gui.core.errors import EncodingUnknown, UsageError
from cfbatch_gui.core.inputs.encodings import shown_name
from cfbatch_gui.core.inputs.input_values import FileFormat, Kind, Layout, Mapping, ReadOptions, Source
from cfbatch_gui.core.job_folder.filling import Progress, fill
from cfbatch_gui.core.job_folder.folder import DRAFT, JOB, JobFolder, SavedDraft, check_has_texts
from cfbatch_gui.core.job_folder.schema import LEFT_OUT, metadata_value, put_metadata_value, transaction
from cfbatch_gui.core.jobs.plan.packing import Plan, forget_plan
from cfbatch_gui.core.jobs.plan.preflight import examine
from cfbatch_gui.core.jobs.reuse import NOTHING, EarlierResults
from cfbatch_gui.core.jobs.states import Job, Purpose
from cfbatch_gui.core.jobs.store.data_folder import write_manifest
from cfbatch_gui.core.jobs.store.ledger import Ledger
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.system.files import create_own_file, flush_folder, flush_to_disk, sha256_of
from cfbatch_gui.core.system.paths import Paths
from cfbatch_gui.core.workers_ai.catalogue import ModelMetadata, find_model

LONGEST_TAG = 40  # characters
_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # without letters and digits that look alike
_log = logging.getLogger(__name__)


class Drafts:
    """All methods but `load`, `check_encodings`, `examine` and `duplicate` are quick; call those four in a thread."""

    def __init__(
        self,
        ledger: Ledger,
        paths: Paths,
        *,
        clock: Callable[[], float] = time.time,
        metadata_for: Callable[[Job], ModelMetadata] = lambda job: find_model(job.model),
        earlier: EarlierResults | None = None,
    ) -> None:
        """Without `earlier` nothing is known of what earlier jobs have."""
        self._ledger, self._paths, self._clock, self._metadata_for = ledger, paths, clock, metadata_for
        self._earlier = earlier

    def folder(self, job_id: str) -> JobFolder:
        return JobFolder(self._paths.job(job_id))

    def create(self, kind: Kind, name: str, model: str, connection: str, job_id: str = "") -> Job:
        """A new, empty draft, with an id of its own unless another computer has given it one."""
        job = Job(
            id=job_id or "".join(secrets.choice(_LETTERS) for _ in range(8)),
            name=name,
            kind=kind,
            model=model,
            connection=connection,
            created_at=self._clock(),
        )
        self.folder(job.id).create()
        return self._ledger.put(job)

    def load(
        self,
        job_id: str,
        source: Source,
        mapping: Mapping,
        second: Source | None = None,
        *,
        progress: Progress | None = None,
        on_count: Progress | None = None,
    ) -> Job:
        """Read the whole file into the draft. Raises InputError, DiskFull, UsageError for a job that was sent."""
        self._draft(job_id)
        folder = self.folder(job_id)
        draft = SavedDraft(
            path=str(source.path),
            options=as_recognised(source),
            mapping=mapping,
            second_path=str(second.path) if second else "",
            second_options=as_recognised(second) if second else ReadOptions(),
        )
        facts: dict[str, object] = {DRAFT: msgspec.to_builtins(draft)}
        # Reading takes its time: what was sent meanwhile keeps the data that its answers are matched by.
        check = partial(self._draft, job_id)
        filled = fill(folder, source, mapping, second, progress=progress, on_count=on_count, check=check, facts=facts)
        sha256 = "" if source.path.is_dir() else sha256_of(source.path)

        def filled_with(job: Job) -> Job:
            return replace(
                _unsent(job),
                kind=mapping.kind,
                source_name=source.path.name,
                source_path=str(source.path),
                source_sha256=sha256,
                rows_in=filled.rows,
                queries=filled.queries,
                texts=filled.texts,
                problems=filled.problems,
            )

        job = self._ledger.change(job_id, filled_with)  # it may have been renamed while the file was read
        write_manifest(folder, job)
        return job

    def check_encodings(self, job_id: str) -> None:
        """As the function of this name, for the files of a draft."""
        folder = self.folder(job_id)
        draft = folder.draft()
        if draft is not None and folder.data.exists():
            first, second = (draft.path, draft.options), (draft.second_path, draft.second_options)
            check_encodings(folder, [(Path(path).name, options) for path, options in (first, second)])

    def examine(self, job_id: str) -> Plan:
        """Plan the draft and return its counts, problems and estimated price, and what earlier jobs have of it."""
        job = self._draft(job_id)
        reusable = self._earlier.find(job) if self._earlier is not None else NOTHING
        return examine(self.folder(job_id), job, self._metadata_for(job), reusable=reusable)

    def send_anew(self, job_id: str, items: Iterable[int], *, anew: bool = True) -> None:
        """Have these items of a draft sent although earlier jobs have their results; quick. Without `anew` this is
        taken back for these, or for all when none are named.
        """
        self._draft(job_id)
        rows = [(item,) for item in items]
        with self.folder(job_id).open() as database, transaction(database):
            if anew:
                database.executemany("INSERT OR IGNORE INTO sent_anew VALUES(?)", rows)
            elif rows:
                database.executemany("DELETE FROM sent_anew WHERE item_no = ?", rows)
            else:
                database.execute("DELETE FROM sent_anew")

    def change(self, job_id: str, **changes: Any) -> Job:
        """Change `kind`, `model`, `connection` or `options` of a draft."""

        def changed(job: Job) -> Job:
            job = replace(_unsent(job), **changes)
            if "model" in changes and job.options.pooling not in self._metadata_for(job).poolings:
                job = replace(job, options=replace(job.options, pooling=""))  # this model does not have that pooling
            return job

        return self._ledger.change(job_id, changed)

    def use_for(self, job_id: str, **options: Any) -> Job:
        """Change the options of any job from `purpose` on; what was sent stays as it is."""
        return self._ledger.change(job_id, lambda job: replace(job, options=replace(job.options, **options)))

    def rename(self, job_id: str, name: str, *, instead_of: str = "") -> Job:
        """Give any job another name, or only one that still has the name `instead_of`; an empty one changes nothing."""

        def renamed(job: Job) -> Job:
            return replace(job, name=name.strip() or job.name) if instead_of in ("", job.name) else job

        return self._ledger.change(job_id, renamed)

    def archive(self, *job_ids: str, archived: bool = True) -> tuple[Job, ...]:
        return self._ledger.change_all(job_ids, lambda job: replace(job, archived=archived))

    def tag(self, tags: dict[str, Iterable[str]]) -> tuple[Job, ...]:
        """Give each of these jobs, by its id, these tags in place of those it has."""
        return self._ledger.change_all(tags, lambda job: replace(job, tags=clean_tags(tags[job.id])))

    def delete(self, *job_ids: str, deleted: bool = True) -> tuple[Job, ...]:
        """Take jobs out of the list, or put them back; their folders go at the next start."""
        deleted_at = self._clock() if deleted else 0.0
        return self._ledger.change_all(job_ids, lambda job: replace(job, deleted_at=deleted_at))

    def discard(self, job_id: str) -> None:
        """Remove a draft for good, with its folder; deleted as usual when that cannot go yet."""
        self._draft(job_id)
        if self.folder(job_id).delete():
            self._ledger.remove(job_id)
        else:
            self.delete(job_id)

    def clear_deleted(self) -> None:
        """Remove for good what was deleted before. A folder of which something is left stays known as deleted:
        forgotten, it would be put together again as a job.
        """
        for job in self._ledger.deleted_jobs():
            if self.folder(job.id).delete():
                self._ledger.remove(job.id)
            else:
                _log.warning("The folder of the deleted job %s could not be removed whole.", job.id)

    def duplicate(self, job_id: str, name: str, *, first: int = 0) -> Job:
        """A new draft with the same data, or with the first queries or texts of it, ready to be sent."""
        old = self._ledger.job(job_id)
        if old.has_named_texts:
            raise UsageError(message("texts_job_are_not_here_cannot"))
        theirs = self.folder(job_id)
        check_has_texts(theirs)
        job = self.create(old.kind, name, old.model, old.connection)
        ours = self.folder(job.id)
        counts = (old.rows_in, old.queries, old.texts, old.problems)
        if theirs.data.exists():
            create_own_file(ours.data)
            # Through SQLite: a plain copy, when it is closed, would end the locks that this process has on the file.
            with theirs.open(read_only=True) as original, closing(sqlite3.connect(ours.data)) as copied:
                original.backup(copied)
            flush_to_disk(ours.data)
            counts = _trim(ours, old.kind, first)
            flush_folder(ours.path)
        rows, queries, texts, problems = counts
        same = {name: getattr(old, name) for name in ("options", "tags", "source_name", "source_path", "source_sha256")}
        return self._ledger.put(replace(job, rows_in=rows, queries=queries, texts=texts, problems=problems, **same))

    def _draft(self, job_id: str) -> Job:
        return _unsent(self._ledger.job(job_id))


_MOST_CATEGORIES, _TIMES = 30, 5  # rows at most; and how many times as many the list has that is sorted into them


def proposed_purpose(mapping: Mapping, rows: int, second_rows: int) -> Purpose | None:
    """What two files with so many rows are likely for; None for that of the kind."""
    if mapping.layout is not Layout.LISTS:
        return None
    is_short = second_rows <= _MOST_CATEGORIES and rows >= _TIMES * second_rows
    return Purpose.CATEGORIES if is_short else Purpose.MATCH


def clean_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Tags as they are kept: one line each, not longer than `LONGEST_TAG`, none twice in any case, sorted."""
    lines = (" ".join(tag.split())[:LONGEST_TAG].strip() for tag in tags)
    return tuple(sorted({line.casefold(): line for line in lines if line}.values(), key=str.casefold))


def _unsent(job: Job) -> Job:
    if job.is_sent:
        raise UsageError(message("job_was_sent_already_duplicate_send"))
    return job


_UNITS = (FileFormat.LINES, FileFormat.PARAGRAPHS, FileFormat.WHOLE)


def as_recognised(source: Source) -> ReadOptions:
    """Options with which the file is read again exactly as it was."""
    return ReadOptions(
        encoding=source.encoding or None,
        is_encoding_guessed=source.is_encoding_guessed,
        other_encodings=source.other_encodings,
        separator=source.separator or None,
        has_header=source.has_header,
        sheet=source.sheet or None,
        unit=next((unit for unit in _UNITS if unit == source.format), None),
        sends_doubtful=source.sends_doubtful,
        leaves_hidden=source.leaves_hidden,
        candidates=source.candidates,
    )


def _trim(folder: JobFolder, kind: Kind, first: int) -> tuple[int, int, int, int]:
    """Forget results, and all but the first queries or texts. Rows, queries, items, problems that are left."""
    with folder.open() as database:
        with transaction(database):
            forget_plan(database)
            database.execute("DELETE FROM sent_anew")
            database.execute("DELETE FROM kept_arrays")
            database.execute("DELETE FROM facts WHERE name = ?", (JOB,))
            if first:
                column = "query_no" if kind is Kind.RANK else "item_no"
                if kind is Kind.EMBED:  # of two lists all of the second stays, which comes before the first
                    first += database.execute("SELECT count(*) FROM texts WHERE file = 2").fetchone()[0]
                database.execute(f"DELETE FROM items WHERE {column} > ?", (first,))  # noqa: S608  # one of two constants
                database.execute("DELETE FROM queries WHERE query_no > ?", (first,))
                for table in ("repeats", "parts"):
                    database.execute(f"DELETE FROM {table} WHERE item_no NOT IN (SELECT item_no FROM items)")  # noqa: S608
                database.execute("DELETE FROM problems")
                database.execute("DELETE FROM raw_rows")
                database.execute("DELETE FROM outside_judgements WHERE query_id NOT IN (SELECT query_id FROM queries)")
                database.execute("DELETE FROM texts WHERE text_no NOT IN (SELECT text_no FROM items)")
                database.execute(
                    "DELETE FROM source_rows WHERE file = 1 AND row NOT IN"
                    " (SELECT row FROM texts WHERE file = 1 UNION SELECT row FROM queries)"
                )
                (rows,) = database.execute(
                    "SELECT count(*) FROM (SELECT row FROM texts WHERE file = 1 UNION SELECT row FROM queries)"
                ).fetchone()
                put_metadata_value(database, "rows", rows)
        counts = database.execute(
            "SELECT (SELECT count(*) FROM queries), (SELECT count(*) FROM items),"  # noqa: S608 - a constant
            f" (SELECT count(*) FROM problems WHERE {LEFT_OUT})"
        ).fetchone()
        return int(str(metadata_value(database, "rows", 0))), int(counts[0]), int(counts[1]), int(counts[2])


_MOST_COMPARED = 2_000  # texts with letters beyond ASCII
_BEFORE, _SHOWN = 3, 90  # words of an example before its first letter beyond ASCII, and bytes of all


def check_encodings(folder: JobFolder, files: Iterable[tuple[str, ReadOptions]]) -> None:
    """Raise EncodingUnknown for a file whose guessed encoding another is close to, under which texts that are sent
    differ. `files` are those of a job that is filled: the name of each, and how it was read.
    """
    for number, (name, options) in enumerate(files, 1):
        if not (options.is_encoding_guessed and options.encoding and options.other_encodings):
            continue
        with folder.open(read_only=True) as database:
            texts = islice(_texts(database, number), _MOST_COMPARED)
            found = readings_of(texts, options.encoding, options.other_encodings)
        guess, *others = found
        if others:
            readings = (
                message("encoding_example", encoding=shown_name(codec), example=example)
                for codec, example in found.items()
            )
            named = reduce(lambda before, each: message("before_or_last", before=before, last=each), readings)
            sentence = message("name_does_not_say_encoding_may", name=name, named=named)
            raise EncodingUnknown(sentence, file_name=name, guess=guess, others=tuple(others))


def _texts(database: sqlite3.Connection, file: int) -> Iterator[str]:
    queries = "UNION ALL SELECT text FROM queries" if file == 1 else ""
    found = database.execute(
        f"SELECT text FROM (SELECT text FROM texts WHERE file = ? {queries})"  # noqa: S608 - one of two constants
        " WHERE length(text) != length(CAST(text AS BLOB))",
        (file,),
    )
    return (text for (text,) in found)


def readings_of(texts: Iterable[str], guess: str, others: Iterable[str]) -> dict[str, str]:
    """An example, "" without one, as it reads in the encoding that was guessed, and in those of the others in which a
    text differs.
    """
    read = [text.encode(guess, "ignore") for text in texts]  # without letters that are not the file's, as a template's
    differing: dict[str, bytes] = {}
    for codec in others:
        found = (data for data in read if data.decode(codec, "replace") != data.decode(guess, "replace"))
        if first := next(found, b""):
            differing[codec] = first
    example = _example(next(iter(differing.values()), b""))
    return {codec: example.decode(codec, "replace") for codec in (guess, *differing)}


def _example(data: bytes) -> bytes:
    """The first word with a letter beyond ASCII, and its neighbours."""
    words = data.split()
    index = next((index for index, word in enumerate(words) if not word.isascii()), 0)
    return b" ".join(words[max(0, index - _BEFORE) :])[:_SHOWN]
