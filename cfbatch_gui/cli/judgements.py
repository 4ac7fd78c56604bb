"""`cfbatch judgements`: books of judgements in and out of files, and what is in them."""

import argparse
import asyncio
import json
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

from cfbatch_gui.cli.console import Console, counted, one_line
from cfbatch_gui.cli.exit_status import ExitStatus
from cfbatch_gui.cli.progress import Progress
from cfbatch_gui.cli.quality_report import unusable_words
from cfbatch_gui.cli.report import table
from cfbatch_gui.cli.working import opened
from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.evaluation.job_judgements import disagreements
from cfbatch_gui.core.evaluation.label_judgements import label_judgements
from cfbatch_gui.core.evaluation.runs import read_run
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.jobs.store.ledger import Ledger
from cfbatch_gui.core.judgements.agreement import agreement_words, between_judges, with_themselves
from cfbatch_gui.core.judgements.book import Book
from cfbatch_gui.core.judgements.forms import Form
from cfbatch_gui.core.judgements.importing import Imported, JobSubjects, import_judgements
from cfbatch_gui.core.judgements.reading import check_all_read, read_judgements
from cfbatch_gui.core.judgements.shelf import USUAL_NAME, Shelf
from cfbatch_gui.core.judgements.writing import write_judgements
from cfbatch_gui.core.program import metadata_of
from cfbatch_gui.core.results.grade_words import chosen_grades, keep_grades, parse_grades
from cfbatch_gui.core.results.labels import read_unusable_labels
from cfbatch_gui.core.system.paths import Paths
from cfbatch_gui.core.system.settings import Settings
from cfbatch_gui.core.system.unfinished import listing

FORMS = """\
files that can be read and written:
  trec    qrels: query id, 0, document id, grade
  beir    TSV with query-id, corpus-id, score
  quepid  CSV with query, docid, rating
  csv     CSV with query, text, grade, and judge and time where known
  jsonl   an object a line: a whole copy of a book, with what was taken back
With --job the ids are those of the job's texts and of its exported run.
"""


def add_arguments(parser: argparse.ArgumentParser, *, parents: Sequence[argparse.ArgumentParser]) -> None:
    """Add the actions of `cfbatch judgements`."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)

    grading = actions.add_parser(
        "grades",
        help="what labels that are words mean in a job",
        description="Say what labels that are no whole numbers mean in a job; without a choice, what is proposed.",
        parents=list(parents),
        allow_abbrev=False,
    )
    grading.add_argument("job", metavar="JOB", help="a job's id, or its name")
    ways = grading.add_mutually_exclusive_group()
    ways.add_argument("--use", metavar="GRADES", help="such as yes=1,no=0")
    ways.add_argument("--accept", action="store_true", help="use what is proposed")
    ways.add_argument("--forget", action="store_true", help="take an earlier choice back")
    grading.set_defaults(act=_grades)

    def command(name: str, words: str) -> argparse.ArgumentParser:
        action = actions.add_parser(name, help=words, description=words, parents=list(parents), allow_abbrev=False)
        action.add_argument("--book", metavar="NAME", help="the book (default: the one that the window uses)")
        action.epilog, action.formatter_class = FORMS, argparse.RawDescriptionHelpFormatter
        return action

    reading = command("import", "take the judgements of a file into a book")
    reading.add_argument("file", metavar="FILE", type=Path, help="its form is known by its content")
    reading.add_argument("--judge", metavar="WHO", help="of lines that name nobody (default: the file's name)")
    reading.add_argument("--skip-bad", action="store_true", help="leave lines out that are no judgements")
    reading.set_defaults(act=_import)
    writing = command("export", "write the judgements of a book to a file")
    writing.add_argument("file", metavar="FILE", type=Path, help="the file to write")
    writing.add_argument("--format", choices=[form.value for form in Form], required=True)
    writing.set_defaults(act=_export)
    for each in (reading, writing):
        each.add_argument("--job", metavar="JOB", help="whose texts the ids name: a job's id, or its name")
    showing = command("show", "what is in a book, and how far its judges agree; without --book, all books")
    showing.set_defaults(act=_show)
    for each in (reading, showing):
        each.add_argument("--json", action="store_true", help="print one JSON object")


async def run(arguments: argparse.Namespace, data_dir: Path, console: Console) -> int:
    """Import, export or show judgements. Raises UserError."""
    status: int = await arguments.act(arguments, Paths(data_dir), console)
    return status


async def _import(arguments: argparse.Namespace, paths: Paths, console: Console) -> int:
    found = await asyncio.to_thread(read_judgements, arguments.file)
    if not arguments.skip_bad:
        check_all_read(found)
    async with opened(paths.root, Progress(console)) as program:
        job = program.ledger.find(arguments.job) if arguments.job else None
        subjects = await asyncio.to_thread(JobSubjects, program.folder(job.id)) if job is not None else None
        book = await asyncio.to_thread(program.judgements.book_for, arguments.book or "")
        judge = arguments.judge or arguments.file.name
        done = await asyncio.to_thread(
            import_judgements, book, found.judgements, judge=judge, time=time.time(), job=subjects
        )
    if arguments.json:
        console.print_result(
            [json.dumps({"book": book.name, "form": found.form, **asdict(done), "bad": len(found.bad)})]
        )
    for words in _import_words(book, done, has_job=job is not None, bad=len(found.bad)):
        console.say(words)
    return ExitStatus.FAILED if found.bad else ExitStatus.DONE


def _import_words(book: Book, done: Imported, *, has_job: bool, bad: int) -> Iterator[str]:
    yield f"Read {counted(done.read, 'judgement')}; {done.added:,} are new in “{one_line(book.name)}”."
    if has_job:
        yield f"{done.matched:,} are about texts of the job; {done.unmatched:,} are not, and are kept all the same."
    if done.conflicting:
        yield f"{done.conflicting:,} are about texts that have different grades."
    if bad:
        yield (
            f"{counted(bad, 'line')} left out, which is no judgement."
            if bad == 1
            else (f"{bad:,} lines left out, which are no judgements.")
        )


async def _export(arguments: argparse.Namespace, paths: Paths, console: Console) -> int:
    job = None
    if arguments.job:
        with closing(Ledger.open_read_only(paths)) as ledger:
            job = ledger.find(arguments.job)
    with closing(Shelf(paths.judgements, read_only=True, clock=time.time)) as shelf, listing(paths.unfinished):
        book = shelf.book(_name(arguments, paths))
        count = await asyncio.to_thread(_write, book, arguments.file, Form(arguments.format), paths, job)
    console.say(f"Wrote {counted(count, 'judgement')} to {arguments.file}")
    return ExitStatus.DONE


def _write(book: Book, path: Path, form: Form, paths: Paths, job: Job | None) -> int:
    if job is None:
        return write_judgements(book, path, form)
    folder = JobFolder(paths.job(job.id))
    labels = label_judgements(read_run(folder, metadata_of(job, "")), time=0.0) if job.batches_done else ()
    return write_judgements(book, path, form, JobSubjects(folder), labels=labels)


async def _show(arguments: argparse.Namespace, paths: Paths, console: Console) -> int:
    with closing(Shelf(paths.judgements, read_only=True, clock=time.time)) as shelf:
        names = (shelf.book(arguments.book).name,) if arguments.book else shelf.names()
        described = [_described(shelf.book(name)) for name in names]
    if arguments.json:
        console.print_result([json.dumps({"books": described}, indent=2)])
    elif not described:
        console.say("There is no book of judgements yet. “cfbatch judgements import FILE” makes one.")
    elif arguments.book:
        console.print_result(_lines_of_book(described[0]))
    else:
        titles = ("BOOK", "JUDGED", "CANNOT TELL", "QUERIES", "JUDGES")
        rows = [
            (
                one_line(str(each["book"])),
                *(f"{each[name]:,}" for name in ("judged", "cannot_tell", "queries", "judges")),
            )
            for each in described
        ]
        console.print_result(table(titles, rows, console.width))
    return ExitStatus.DONE


async def _grades(arguments: argparse.Namespace, paths: Paths, console: Console) -> int:
    async with opened(paths.root, Progress(console)) as program:
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
                    "Nothing can be proposed for the labels of this job. Say it with --use, like yes=1,no=0."
                )
            chosen = dict(unusable.proposal)
        elif unusable is not None:
            console.say(f"{unusable_words(unusable)}.")
        if arguments.use or arguments.accept or arguments.forget:
            await asyncio.to_thread(keep_grades, folder, chosen)
    for label, grade in sorted(chosen.items(), key=lambda pair: pair[1]):
        console.print_result([f"{grade:>4}  {one_line(label)}"])
    return ExitStatus.DONE


def _described(book: Book) -> dict[str, object]:
    tally, records = book.tally(), book.records()
    agreements = {"between_judges": between_judges(records), "with_themselves": with_themselves(records)}
    return {
        "book": book.name,
        "grades": [grade.name for grade in book.scale.grades],
        "judged": tally.pairs,
        "cannot_tell": tally.untold,
        "queries": tally.queries,
        "judges": tally.judges,
        "ever_judged": tally.records,
        "disagreements": len(disagreements(book)),
        **{
            name: {"texts": found.pairs, "same": found.same, "kappa": found.kappa, "words": agreement_words(found)}
            for name, found in agreements.items()
            if found.pairs
        },
    }


def _lines_of_book(found: dict[str, object]) -> Iterator[str]:
    grades = found["grades"]
    scale = " < ".join(map(str, grades)) if isinstance(grades, list) else ""
    yield f"{'Book':<15} {one_line(str(found['book']))}"
    yield f"{'Grades':<15} {one_line(scale)}"
    yield f"{'Judged':<15} {found['judged']:,} texts for {found['queries']:,} queries, by {found['judges']:,} judges"
    yield f"{'Cannot tell':<15} {found['cannot_tell']:,}"
    for title, name in (("Judges", "between_judges"), ("Shown again", "with_themselves")):
        agreement = found.get(name)
        if isinstance(agreement, dict):
            yield f"{title:<15} {agreement['words']}"
    if found["disagreements"]:
        yield f"{'To settle':<15} {found['disagreements']:,} disagreements, in the window under “Judge its texts…”"


def _name(arguments: argparse.Namespace, paths: Paths) -> str:
    return arguments.book or Settings.load(paths.settings).judgement_book or USUAL_NAME
