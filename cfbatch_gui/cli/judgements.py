"""`cfbatch judgements`: books of judgements in and out of files."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from operator import attrgetter
from typing import Any, Final

from cfbatch_gui.cli.compare import unusable_words
from cfbatch_gui.cli.console import Call, ExitStatus, labelled, table
from cfbatch_gui.cli.jobs import found_jobs
from cfbatch_gui.cli.parser import Parser
from cfbatch_gui.cli.working import opened
from cfbatch_gui.core.evaluation.joining import label_judgements, read_run
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.judgements import files
from cfbatch_gui.core.judgements.book import Book, Shelf, Tally, disagreeing
from cfbatch_gui.core.judgements.session import between_judges, with_themselves
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results.labels import chosen_grades, keep_grades, parse_grades, read_unusable_labels
from cfbatch_gui.core.system.files import listing
from cfbatch_gui.words.figures import number, one_line, told, usage_error, worded
from cfbatch_gui.words.languages import said, tr
from cfbatch_gui.words.quality import agreement_words, import_words

_FORMS: Final = message("files_can_be_read_written_trec")


def add_arguments(parser: Parser) -> None:
    command = parser.add_action
    grading = command("grades", tr("what labels that are words mean in a job (default: what is proposed)"), _grades)
    grading.add_options("job JOB  a job's id, the beginning of it, or its name")
    grading.one_of("""
        --use GRADES  such as yes=1,no=0
        --accept  use what is proposed
        --forget  take an earlier choice back
    """)
    reading = command("import", tr("take the judgements of a file into a book"), _import)
    reading.add_options("""
        file FILE  its form is known by its content
        --judge WHO  of lines that name nobody (default: the file's name)
        --skip-bad  leave lines out that are no judgements
    """)
    writing = command("export", tr("write the judgements of a book to a file"), _export)
    writing.add_options("""
        file FILE  the file to write
        --format trec|beir|quepid|csv|jsonl!  its form
    """)
    showing = command("show", tr("what is in a book, and how far its judges agree; without --book, all books"), _show)
    for each in (reading, writing, showing):
        each.add_options("--book NAME  the book (default: the one that the window uses)")
        each.epilog = tr(_FORMS)
    for each in (reading, writing):
        each.add_options("--job JOB  whose texts the ids name: a job's id, the beginning of it, or its name")
    for each in (reading, showing):
        each.add_options("--json  print one JSON object")


async def run(call: Call) -> int | None:
    return await call.act(call)


async def _import(call: Call) -> int:
    found = await asyncio.to_thread(files.read_judgements, call.file)
    if not call.skip_bad:
        files.check_all_read(found)
    async with opened(call) as work:
        program = work.program
        job = program.ledger.find(call.job) if call.job else None
        subjects = await asyncio.to_thread(files.JobSubjects, program.folder(job.id)) if job is not None else None
        book = await asyncio.to_thread(program.judgements.book_or_new, call.book or "")
        judge = call.judge or call.file.name
        done = await asyncio.to_thread(
            files.import_judgements, book, found.judgements, judge=judge, time=time.time(), job=subjects
        )
    bad = len(found.bad)
    if call.json:
        call.console.print_json({"book": book.name, "form": found.form, **asdict(done), "bad": bad})
    call.console.say(import_words(done, one_line(book.name), has_job=job is not None))
    if bad:
        call.console.tell("n_lines_left_out_are_no", n=bad)
    return ExitStatus.FAILED if bad else ExitStatus.DONE


async def _export(call: Call) -> None:
    job = next(iter(found_jobs(call, call.job)), None) if call.job else None
    with closing(_shelf(call)) as shelf, listing(call.paths.unfinished):
        book = shelf.book(call.book or "")
        count = await asyncio.to_thread(_write, call, book, job)
    call.console.tell("wrote_n_judgements_path", n=count, path=call.file)


def _shelf(call: Call) -> Shelf:
    return Shelf(call.paths.judgements, lambda: call.settings.judgement_book, read_only=True)


def _write(call: Call, book: Book, job: Job | None) -> int:
    form = files.Form(call.format)
    if job is None:
        return files.write_judgements(book, call.file, form)
    folder = JobFolder(call.paths.job(job.id))
    labels = label_judgements(read_run(folder, job), time=0.0) if job.has_results else ()
    return files.write_judgements(book, call.file, form, files.JobSubjects(folder), labels=labels)


async def _show(call: Call) -> None:
    with closing(_shelf(call)) as shelf:
        names = (shelf.book(call.book).name,) if call.book else shelf.names()
        described = [_described(shelf.book(name)) for name in names]
    counts = attrgetter("pairs", "untold", "queries", "judges")
    rows = [(each["name"], *map(number, counts(each["tally"]))) for each in described]
    titles = (tr("BOOK"), tr("JUDGED"), tr("CANNOT TELL"), tr("QUERIES"), tr("JUDGES"))
    call.answer(
        {"books": described},
        labelled(_lines_of_book(described[0]), 15) if call.book else table(titles, rows, call.console.width),
        tr("There is no book of judgements yet. “cfbatch judgements import FILE” makes one."),
    )


async def _grades(call: Call) -> None:
    async with opened(call) as work:
        folder = work.program.folder(work.program.ledger.find(call.job).id)
        with folder.open(read_only=True) as database:
            unusable, chosen = read_unusable_labels(database), dict(chosen_grades(database))
        if call.forget:
            chosen = {}
        elif call.use:
            chosen = parse_grades(call.use)
        elif call.accept:
            if unusable is None or not unusable.proposal:
                raise usage_error("nothing_can_be_proposed_labels_job")
            chosen = dict(unusable.proposal)
        elif unusable is not None:
            call.console.say(unusable_words(unusable))
        if call.use or call.accept or call.forget:
            await asyncio.to_thread(keep_grades, folder, chosen)
    grades = sorted(chosen.items(), key=lambda pair: pair[1])
    call.console.print_result(f"{grade:>4}  {one_line(label)}" for label, grade in grades)


def _described(book: Book) -> dict[str, Any]:
    return {
        "name": book.name,
        "grades": [grade.name for grade in book.scale.grades],
        "tally": book.tally(),
        "disagreements": len(disagreeing(book)),
        "between_judges": between_judges(book),
        "with_themselves": with_themselves(book),
    }


def _lines_of_book(book: dict[str, Any]) -> Iterator[tuple[str, str]]:
    tally: Tally = book["tally"]
    yield tr("Book"), one_line(book["name"])
    yield tr("Grades"), one_line(" < ".join(map(said, book["grades"])))
    judged = {"texts": tally.pairs, "queries": tally.queries, "judges": tally.judges}
    yield tr("Judged"), worded("{texts} texts for {queries} queries, by {judges} judges", **judged)
    yield tr("Cannot tell"), number(tally.untold)
    if book["between_judges"].pairs:
        yield tr("Judges"), agreement_words(book["between_judges"])
    if book["with_themselves"].pairs:
        yield tr("Shown again"), agreement_words(book["with_themselves"])
    if book["disagreements"]:
        to_settle = told("n_disagreements_window_under_judge_texts", n=book["disagreements"])
        yield tr("To settle"), to_settle
