"""Judgements in and out of files, from the page of judging."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.evaluation.runs import label_judgements, read_run
from cfbatch_gui.core.export_metadata import metadata_of
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.judgements.book import Book
from cfbatch_gui.core.judgements.files import (
    Form,
    Imported,
    JobSubjects,
    check_all_read,
    import_judgements,
    read_judgements,
    write_judgements,
)
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.remembered_folders import FolderUse
from cfbatch_gui.ui import dialogs, display
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.widgets import MenuButton


class JudgementFiles(QObject):
    """A button with a menu. `imported` follows when something new is in the book.

    `book_name` returns the name of the book on the page, `jobs` the jobs whose texts ids may name.
    """

    imported = Signal()

    def __init__(
        self,
        program: Program,
        notices: Notices,
        tasks: Tasks,
        owner: QWidget,
        *,
        book_name: Callable[[], str],
        jobs: Callable[[], Sequence[Job]],
    ) -> None:
        super().__init__(owner)
        self._program, self._notices, self._tasks, self._owner = program, notices, tasks, owner
        self._book_name, self._jobs = book_name, jobs
        self.button = MenuButton(self.tr("Files"))
        self.button.add(self.tr("Import judgements…"), self._start_import)
        names = {
            Form.CSV: self.tr("Save as CSV with texts…"),
            Form.TREC: self.tr("Save as TREC qrels…"),
            Form.BEIR: self.tr("Save as TSV for BEIR…"),
            Form.QUEPID: self.tr("Save as CSV for Quepid…"),
            Form.LINES: self.tr("Save everything as JSON Lines…"),
        }
        for form, name in names.items():
            self.button.add(name, partial(self._start_export, form))

    async def take_in(self, path: Path) -> None:
        """Import a file beside the first job, and say what came of it. Raises UserError; nothing is taken in part."""
        found = await asyncio.to_thread(read_judgements, path)
        check_all_read(found)
        book = await asyncio.to_thread(self._program.judgements.book_for, self._book_name())
        subjects = await asyncio.to_thread(self._subjects)
        done = await asyncio.to_thread(
            lambda: import_judgements(book, found.judgements, judge=path.name, time=self._program.clock(), job=subjects)
        )
        self._notices.show_notice(self._words(done), "done")
        self.imported.emit()

    async def write(self, path: Path, form: Form) -> None:
        """Write the book, with the ids of the first job where the form has ids. Raises UserError."""
        name = self._book_name()
        if not self._program.judgements.shelf.has(name):
            raise UsageError(self.tr("There is no judgement to write yet."))
        book = await asyncio.to_thread(self._program.judgements.shelf.book, name)
        count = await asyncio.to_thread(self._write, book, path, form)
        judgements = display.plural(count, "{n} judgement", "{n} judgements")
        said = self.tr("Wrote {judgements} to “{name}”.").format(judgements=judgements, name=path.name)
        self._notices.show_written(said, path)

    def _start_import(self) -> None:
        self._tasks.start("files", self._import())

    def _start_export(self, form: Form) -> None:
        self._tasks.start("files", self._export(form))

    async def _import(self) -> None:
        path = await dialogs.open_file(
            self._owner,
            self.tr("Take judgements in from a file"),
            filters=(self.tr("Judgements (*.csv *.tsv *.txt *.qrels *.jsonl)"), self.tr("All files (*)")),
            folder=self._program.remembered_folder(FolderUse.JUDGEMENTS),
        )
        if path is not None:
            await self.take_in(path)

    async def _export(self, form: Form) -> None:
        suffix = {Form.TREC: "qrels", Form.BEIR: "tsv", Form.LINES: "jsonl"}.get(form, "csv")
        path = await dialogs.save_file(
            self._owner,
            self.tr("Save judgements"),
            name=f"{self._book_name()}.{suffix}",
            folder=self._program.remembered_folder(FolderUse.JUDGEMENTS),
            suffix=suffix,
        )
        if path is not None:
            await self.write(path, form)

    def _write(self, book: Book, path: Path, form: Form) -> int:
        jobs = self._jobs()
        if not form.has_ids_only or not jobs:
            return write_judgements(book, path, form)
        run = read_run(self._program.folder(jobs[0].id), metadata_of(jobs[0], ""))
        labels = label_judgements(run, time=self._program.clock())
        return write_judgements(book, path, form, self._subjects(), labels=labels)

    def _subjects(self) -> JobSubjects | None:
        jobs = self._jobs()
        return JobSubjects(self._program.folder(jobs[0].id)) if jobs else None

    def _words(self, done: Imported) -> str:
        words = [
            display.plural(done.read, "Read {n} judgement;", "Read {n} judgements;"),
            self.tr("{added} are new, {matched} are about texts of this job.").format(
                added=display.number(done.added), matched=display.number(done.matched)
            ),
        ]
        if done.unmatched:
            words.append(self.tr("{n} others are kept all the same.").format(n=display.number(done.unmatched)))
        if done.conflicting:
            words.append(
                self.tr("{n} are about texts that have different grades.").format(n=display.number(done.conflicting))
            )
        return " ".join(words)
