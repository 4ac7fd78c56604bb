"""`cfbatch match`: the closest row of one list beside each row of another, or with `related` of the same list."""

import asyncio
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from cfbatch_gui.cli import reading, working
from cfbatch_gui.cli import run as running
from cfbatch_gui.cli.console import Call
from cfbatch_gui.cli.parser import Parser, checked, number_in
from cfbatch_gui.core.inputs.column_names import index_of
from cfbatch_gui.core.inputs.input_values import Kind, Role, Source
from cfbatch_gui.core.jobs.states import MOST_BEST, MatchOptions, Purpose
from cfbatch_gui.core.judgements import files
from cfbatch_gui.core.judgements.book import Shelf
from cfbatch_gui.core.judgements.values import MATCHES
from cfbatch_gui.core.messages import message
from cfbatch_gui.words.figures import usage_error
from cfbatch_gui.words.languages import tr

_NO_TOP = message("text_should_be_from_1_to_most")
_NO_THRESHOLD = message("text_should_be_auto_or_score")
EXAMPLES = """
  cfbatch match supplier.xlsx own.csv --out matched.xlsx
  cfbatch match old.csv new.csv --text Title --to redirects map.csv
  cfbatch match a.csv b.csv --text A=Description --text A=Size --text B=Name --top 3 --each-once
"""


def add_arguments(parser: Parser) -> None:
    parser.epilog = tr("examples:") + EXAMPLES
    parser.add_options("""
        file FILE  list A, which comes back with its matches
        second FILE2  list B, which gives them
    """)
    _add_matching_arguments(parser, best=1)
    parser.add_options("--each-once  each row of B for one row of A only")
    add_decision_arguments(parser)
    running.add_sending_arguments(parser)


def add_related_arguments(parser: Parser) -> None:
    parser.add_options("file FILE  the list, whose rows are compared with each other")
    _add_matching_arguments(parser, best=MatchOptions().best)
    running.add_sending_arguments(parser)
    parser.set_defaults(second=None, each_once=False, decisions=None, write_decisions=None)


def add_decision_arguments(parser: Parser) -> None:
    parser.add_options("""
        --decisions FILE  first take what was decided from a file with query, text and grade: 1 for a row or category
            that belongs to a row, 0 for one that does not
        --write-decisions FILE  in the end write all decisions as such a file
    """)


def add_threshold_argument(parser: Parser) -> None:
    parser.add_options(
        "--threshold SCORE  from which score on two rows match, or “auto” (default: what unrelated pairs do not reach)",
        {"--threshold": checked(_threshold, _NO_THRESHOLD)},
    )


def _add_matching_arguments(parser: Parser, *, best: int) -> None:
    add_threshold_argument(parser)
    parser.add_options(
        """
        --top K  so many of the best rows for each row (default: {best})
        --within COLUMN  only rows with the same value in this column
        --not-within COLUMN  never rows with the same value in this column
        """,
        {
            "--top": {"type": number_in(1, MOST_BEST, _NO_TOP, whole=True, most=MOST_BEST), "default": best},
        },
        best=best,
    )
    add_text_arguments(parser)


def add_text_arguments(parser: Parser) -> None:
    parser.add_options(
        """
        --text COLUMN...  the column that is compared, of several their texts; with A= or B= in front of one list
        --template TEMPLATE...  join columns, for example “{title}. {h1}”; with A= or B= in front for one list
        """,
        {"--text": _of_list, "--template": {"type": _of_list, "dest": "templates"}},
    )
    reading.add_file_arguments(parser)
    parser.set_defaults(kind=Kind.EMBED, layout=None, candidates=None, split=None, template="")


def _of_list(text: str) -> tuple[str, str]:
    """“A=Title” as ("A", "Title"), and without a list ("", "Title")."""
    return (text[0], text[2:]) if text[:2] in ("A=", "B=") else ("", text)


def _threshold(text: str) -> float | None:
    return None if text == "auto" else number_in(-1, 1, _NO_THRESHOLD)(text)


async def run(call: Call) -> int:
    matching = MatchOptions(call.top, call.each_once, call.within or "", call.not_within or "", call.threshold)
    return await run_lists(call, open_lists, MATCHES, purpose=Purpose.MATCH, matching=matching)


async def run_lists(call: Call, open_inputs: running.OpenInputs, book: str, **options: Any) -> int:
    """Run a job with these options; decisions are in this book."""
    if call.write_decisions:
        if call.write_decisions in (*call.out, *(Path(path) for _, path in call.to)):
            raise usage_error("path_is_given_twice_each_file", path=call.write_decisions)
        working.check_outputs([call.write_decisions], None, [call.file, *filter(None, [call.second])])
    if call.decisions:
        await asyncio.to_thread(_read_decisions, call, book)
    status = await running.run_job(call, open_inputs, **options)
    if call.write_decisions:
        await asyncio.to_thread(_write_decisions, call, book)
    return status


def _read_decisions(call: Call, name: str) -> None:
    found = files.read_judgements(call.decisions)
    files.check_all_read(found)
    call.paths.create()
    with closing(Shelf(call.paths.judgements)) as shelf:
        book, judge = shelf.book_or_new(name), call.decisions.name
        files.import_judgements(book, found.judgements, judge=judge, time=time.time())


def _write_decisions(call: Call, name: str) -> None:
    with closing(Shelf(call.paths.judgements)) as shelf:
        book = shelf.book_or_new(name)
        if not book.tally().pairs:
            call.console.tell("there_is_no_judgement_write_nothing")
            return
        count = files.write_judgements(book, call.write_decisions, files.Form.CSV)
    call.console.tell("wrote_n_judgements_path", n=count, path=call.write_decisions)


def open_lists(call: Call, first: Path, second: Path | None) -> reading.Inputs:
    """The lists, with the columns that are to be compared. Raises InputError, UsageError."""
    found = reading.open_inputs(call, first, second)
    mapping = found.mapping
    roles, template = _compared(call, "A", found.source, mapping.roles)
    mapping = replace(mapping, roles=roles, template=template or mapping.template)
    if found.second is not None:
        roles, template = _compared(call, "B", found.second, mapping.second_roles)
        mapping = replace(mapping, second_roles=roles, second_template=template or mapping.second_template)
    return reading.Inputs(found.source, mapping, found.second)


def _compared(call: Call, name: str, source: Source, roles: tuple[Role, ...]) -> tuple[tuple[Role, ...], str]:
    """The roles of a list's columns, and the template where there is one, as the arguments say."""
    texts, templates = _said(call.text, name), _said(call.templates, name)
    for column in (*texts, *filter(None, (call.within, call.not_within))):
        if index_of(column, source.columns) is None:
            raise usage_error("list_has_no_column", list=name, name=column)
    if texts:
        wanted = [index_of(column, source.columns) for column in texts]
        others = (Role.KEEP if role is Role.TEXT else role for role in roles)
        roles = tuple(Role.TEXT if at in wanted else role for at, role in enumerate(others))
    if len(texts) > 1 and call.second is None:
        templates = templates or [", ".join(f"{{{column}}}" for column in texts)]
    return roles, templates[-1] if templates else ""


def _said(options: Sequence[tuple[str, str]], name: str) -> list[str]:
    """What is said of one list, else what is said of both."""
    return [text for of, text in options if of == name] or [text for of, text in options if not of]
