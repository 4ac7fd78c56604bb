"""`cfbatch judgements`: books of judgements in and out of files."""

import argparse
import asyncio
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path

from cfbatch_gui.cli.compare import unusable_words
from cfbatch_gui.cli.console import Console, labelled, one_line
from cfbatch_gui.cli.exit_status import ExitStatus
from cfbatch_gui.cli.jobs import found_jobs
from cfbatch_gui.cli.language import number, plural, tr
from cfbatch_gui.cli.parser import Actions, Parser
from cfbatch_gui.cli.working import opened
from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.evaluation.joining import label_judgements, read_run
from cfbatch_gui.core.evaluation.judged import disagreements
from cfbatch_gui.core.export_metadata import metadata_of
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.judgements import files
from cfbatch_gui.core.judgements.agreement import Agreement, agreement_words, between_judges, with_themselves
from cfbatch_gui.core.judgements.book import USUAL_NAME, Book, Shelf, Tally
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results.labels import chosen_grades, keep_grades, parse_grades, read_unusable_labels
from cfbatch_gui.core.system.files import listing
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.core.system.paths import Paths
from cfbatch_gui.core.system.settings import Settings

FORMS = {
    files.Form.TREC: message("qrels: query id, 0, document id, grade"),
    files.Form.BEIR: message("TSV with query-id, corpus-id, score"),
    files.Form.QUEPID: message("CSV with query, docid, rating"),
    files.Form.CSV: message("CSV with query, text, grade, and judge and time where known"),
    files.Form.LINES: message("an object a line: a whole copy of a book, with what was taken back"),
}


def add_arguments(parser: Parser, *, parents: Sequence[Parser]) -> None:
    command = Actions(parser, parents).add
    grading = command("grades", tr("what labels that are words mean in a job (default: what is proposed)"), _grades)
    grading.add_options("job JOB  a job's id, the beginning of it, or its name")
    grading.one_of(
        """
        --use GRADES  such as yes=1,no=0
        --accept  use what is proposed
        --forget  take an earlier choice back
        """
    )
    reading = command("import", tr("take the judgements of a file into a book"), _import)
    reading.add_options(
        """
        file FILE  its form is known by its content
        --judge WHO  of lines that name nobody (default: the file's name)
        --skip-bad  leave lines out that are no judgements
        """
    )
    writing = command("export", tr("write the judgements of a book to a file"), _export)
    writing.add_options(
        """
        file FILE  the file to write
        --format trec|beir|quepid|csv|jsonl  its form
        """,
        {"--format": {"required": True}},
    )
    showing = command("show", tr("what is in a book, and how far its judges agree; without --book, all books"), _show)
    for each in (reading, writing, showing):
        each.add_options("--book NAME  the book (default: the one that the window uses)")
        each.epilog = _forms_help()
    for each in (reading, writing):
        each.add_options("--job JOB  whose texts the ids name: a job's id, the beginning of it, or its name")
    for each in (reading, showing):
        each.add_options("--json  print one JSON object")


def _forms_help() -> str:
    return "\n".join(
        [
            tr("files that can be read and written:"),
            *(f"  {form:<6}  {said(words)}" for form, words in FORMS.items()),
            tr("With --job the ids are those of the job's texts and of its exported run."),
        ]
    )


async def run(arguments: argparse.Namespace, paths: Paths, console: Console) -> int:
    status: int = await arguments.act(arguments, paths, console)
    return status


async def _import(arguments: argparse.Namespace, paths: Paths, console: Console) -> int:
    found = await asyncio.to_thread(files.read_judgements, arguments.file)
    if not arguments.skip_bad:
        files.check_all_read(found)
    async with opened(paths, console) as (program, _):
        job = program.ledger.find(arguments.job) if arguments.job else None
        subjects = await asyncio.to_thread(files.JobSubjects, program.folder(job.id)) if job is not None else None
        book = await asyncio.to_thread(program.judgements.book_for, arguments.book or "")
        judge = arguments.judge or arguments.file.name
        done = await asyncio.to_thread(
            files.import_judgements, book, found.judgements, judge=judge, time=time.time(), job=subjects
        )
    if arguments.json:
        console.print_json({"book": book.name, "form": found.form, **asdict(done), "bad": len(found.bad)})
    for words in _import_words(book, done, has_job=job is not None, bad=len(found.bad)):
        console.say(words)
    return ExitStatus.FAILED if found.bad else ExitStatus.DONE


def _import_words(book: Book, done: files.Imported, *, has_job: bool, bad: int) -> Iterator[str]:
    yield plural(
        done.read,
        "Read {n} judgement; {new} are new in “{book}”.",
        "Read {n} judgements; {new} are new in “{book}”.",
        new=number(done.added),
        book=one_line(book.name),
    )
    if has_job:
        yield tr("{some} are about texts of the job; {others} are not, and are kept all the same.").format(
            some=number(done.matched), others=number(done.unmatched)
        )
    if done.conflicting:
        yield plural(
            done.conflicting,
            "{n} is about texts that have different grades.",
            "{n} are about texts that have different grades.",
        )
    if bad:
        yield plural(bad, "{n} line left out, which is no judgement.", "{n} lines left out, which are no judgements.")


async def _export(arguments: argparse.Namespace, paths: Paths, console: Console) -> int:
    job = next(iter(found_jobs(paths, console, arguments.job)), None) if arguments.job else None
    with closing(Shelf(paths.judgements, read_only=True, clock=time.time)) as shelf, listing(paths.unfinished):
        book = shelf.book(_name(arguments, paths))
        count = await asyncio.to_thread(_write, book, arguments.file, files.Form(arguments.format), paths, job)
    console.say(plural(count, "Wrote {n} judgement to {path}", "Wrote {n} judgements to {path}", path=arguments.file))
    return ExitStatus.DONE


def _write(book: Book, path: Path, form: files.Form, paths: Paths, job: Job | None) -> int:
    if job is None:
        return files.write_judgements(book, path, form)
    folder = JobFolder(paths.job(job.id))
    labels = label_judgements(read_run(folder, metadata_of(job, "")), time=0.0) if job.has_results else ()
    return files.write_judgements(book, path, form, files.JobSubjects(folder), labels=labels)


async def _show(arguments: argparse.Namespace, paths: Paths, console: Console) -> int:
    with closing(Shelf(paths.judgements, read_only=True, clock=time.time)) as shelf:
        names = (shelf.book(arguments.book).name,) if arguments.book else shelf.names()
        described = [_described(shelf.book(name)) for name in names]
    if arguments.json:
        console.print_json({"books": described})
    elif arguments.book:
        console.print_result(labelled(_lines_of_book(described[0]), 15))
    else:
        console.print_list(
            [(one_line(each.name), *map(number, each.counts)) for each in described],
            (tr("BOOK"), tr("JUDGED"), tr("CANNOT TELL"), tr("QUERIES"), tr("JUDGES")),
            tr("There is no book of judgements yet. “cfbatch judgements import FILE” makes one."),
        )
    return ExitStatus.DONE


async def _grades(arguments: argparse.Namespace, paths: Paths, console: Console) -> int:
    async with opened(paths, console) as (program, _):
        job = program.ledger.find(arguments.job)
        folder = program.folder(job.id)
        with folder.open(read_only=True) as database:
            unusable, chosen = read_unusable_labels(database), dict(chosen_grades(database))
        if arguments.forget:
            chosen = {}
        elif arguments.use:
            chosen = parse_grades(arguments.use)
        elif arguments.accept:
            if unusable is None or not unusable.proposal:
                raise UsageError(
                    message("Nothing can be proposed for the labels of this job. Say it with --use, like yes=1,no=0.")
                )
            chosen = dict(unusable.proposal)
        elif unusable is not None:
            console.say(tr("{sentence}."), sentence=unusable_words(unusable))
        if arguments.use or arguments.accept or arguments.forget:
            await asyncio.to_thread(keep_grades, folder, chosen)
    for label, grade in sorted(chosen.items(), key=lambda pair: pair[1]):
        console.print_result([f"{grade:>4}  {one_line(label)}"])
    return ExitStatus.DONE


@dataclass(frozen=True, slots=True)
class _Described:
    name: str
    grades: tuple[str, ...]
    tally: Tally
    disagreements: int
    between_judges: Agreement
    with_themselves: Agreement

    @property
    def counts(self) -> tuple[int, ...]:
        return self.tally.pairs, self.tally.untold, self.tally.queries, self.tally.judges


def _described(book: Book) -> _Described:
    return _Described(
        book.name,
        tuple(grade.name for grade in book.scale.grades),
        book.tally(),
        len(disagreements(book)),
        between_judges(book),
        with_themselves(book),
    )


def _lines_of_book(book: _Described) -> Iterator[tuple[str, str]]:
    yield tr("Book"), one_line(book.name)
    yield tr("Grades"), one_line(" < ".join(map(said, book.grades)))
    judged = tr("{texts} texts for {queries} queries, by {judges} judges")
    pairs, untold, queries, judges = map(number, book.counts)
    yield tr("Judged"), judged.format(texts=pairs, queries=queries, judges=judges)
    yield tr("Cannot tell"), untold
    if book.between_judges.pairs:
        yield tr("Judges"), said(agreement_words(book.between_judges))
    if book.with_themselves.pairs:
        yield tr("Shown again"), said(agreement_words(book.with_themselves))
    if book.disagreements:
        yield (
            tr("To settle"),
            plural(
                book.disagreements,
                "{n} disagreement, in the window under “Judge its texts…”",
                "{n} disagreements, in the window under “Judge its texts…”",
            ),
        )


def _name(arguments: argparse.Namespace, paths: Paths) -> str:
    return arguments.book or Settings.load(paths.settings).judgement_book or USUAL_NAME
