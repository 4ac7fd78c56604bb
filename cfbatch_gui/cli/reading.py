"""The arguments for how a file is read and for the roles of its columns."""

import asyncio
import shutil
import sys
import textwrap
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import fields, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from cfbatch_gui.cli.console import Call, Console, ExitStatus, elided, labelled
from cfbatch_gui.cli.parser import Parser, checked
from cfbatch_gui.core.errors import InputError
from cfbatch_gui.core.inputs import input_values
from cfbatch_gui.core.inputs.column_names import index_of, listed
from cfbatch_gui.core.inputs.encodings import shown_name
from cfbatch_gui.core.inputs.file_rows import preview
from cfbatch_gui.core.inputs.input_values import CandidateRule, Layout, Mapping, ProblemKind, Role, Source
from cfbatch_gui.core.inputs.layouts import check_mapping, with_layout, with_role
from cfbatch_gui.core.inputs.open_file import is_folder
from cfbatch_gui.core.inputs.readers.formats import listed_formats
from cfbatch_gui.core.inputs.recipes import Recipe, fitted, recipe_named
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.inputs.suggest import suggest_mapping
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.row_problems import StoredProblem, problem_columns, problems, with_signs
from cfbatch_gui.core.jobs.plan.packing import ProblemCount
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.system.settings import Settings
from cfbatch_gui.words.figures import told, usage_error, worded
from cfbatch_gui.words.languages import said, tr

STANDARD_INPUT = Path("-")
_UNITS = {
    "line": input_values.FileFormat.LINES,
    "paragraph": input_values.FileFormat.PARAGRAPHS,
    "file": input_values.FileFormat.WHOLE,
}
_ANSWERS = {"yes": True, "no": False}
_NO_ROLE = message("text_should_be_column_role_example")
_NO_SIZE = message("text_should_be_number_tokens_example")
_NO_CANDIDATES = message("text_should_be_judged_corpus_sample")


def column_role(text: str) -> tuple[str, Role]:
    """A column's name may itself contain "="."""
    column, _, role = text.rpartition("=")
    if not column:
        raise ValueError
    return column, Role(role.strip().lower())


def add_input_arguments(parser: Parser) -> None:
    parser.add_options(
        """
        file FILE  {formats}, packed or not; a folder; “-” for standard input
        second [FILE2]  one set of candidates for every query
        """,
        formats=", ".join(map(said, listed_formats())),
    )
    add_reading_arguments(parser)


def add_sent_arguments(parser: Parser) -> None:
    """For a job that was sent elsewhere."""
    parser.add_options(
        "--input FILE  what was sent; without it texts get names", {"--input": {"nargs": "+", "default": []}}
    )
    add_reading_arguments(parser)


def add_reading_arguments(parser: Parser) -> None:
    parser.one_of(
        """
        --rank  order candidates by query
        --embed  turn texts into vectors
        """,
        {
            "--rank": {"dest": "kind", "action": "store_const", "const": input_values.Kind.RANK},
            "--embed": {"dest": "kind", "action": "store_const", "const": input_values.Kind.EMBED},
        },
    )
    add_file_arguments(parser)
    parser.add_options(
        """
        --layout LAYOUT  of a ranking: {layouts}
        --candidates judged|corpus|sample[:N]  of a data set with judgements and no run, the texts to rank for each
            query: those that are judged, the whole corpus, or those that are judged and others drawn from the corpus, N
            in all ({n})
        --split TOKENS[:OVERLAP]  cut longer texts into parts of so many tokens; a ranking counts the best part
        """,
        {
            "--layout": {"type": Layout, "choices": [each for each in Layout if each is not Layout.LISTS]},
            "--candidates": checked(candidate_rule, _NO_CANDIDATES),
            "--split": checked(split_size, _NO_SIZE),
        },
        layouts=", ".join(each for each in Layout if each not in (Layout.TEXTS, Layout.LISTS)),
        n=CandidateRule().size,
    )
    parser.add_options("--template TEXT  join columns, for example “{title}. {body}”")


def add_file_arguments(parser: Parser) -> None:
    parser.add_options(
        """
        --recipe NAME  read and map the files as a recipe says that was saved in the window
        --role COLUMN=ROLE...  what a column is for: {roles}
        --encoding NAME  of the first file, such as utf-8, cp1252 or shift_jis
        --separator SIGN  of the first file: , ; | tab, or any other one or two characters
        --header yes|no  is the first row of the first file a header?
        --sheet NAME  of the first file, when it is a workbook
        --texts-by line|paragraph|file  how plain text is cut into texts
        --doubtful send|skip  rows that may have been misread, in either file: take them as they were read, or skip
            them. Without this option they are skipped and listed, and after “run” and “check” the exit status is
            {status}
        --hidden send|skip  rows that are hidden or filtered in a workbook: send them, as without this option, or skip
            them
        """,
        {"--role": {"dest": "roles", "type": checked(column_role, _NO_ROLE, roles=", ".join(Role))}},
        roles=", ".join(Role),
        status=f"{ExitStatus.FAILED:d}",
    )


def split_size(text: str) -> input_values.Split:
    tokens, _, overlap = text.partition(":")
    return input_values.Split(int(tokens), int(overlap or 0))


def candidate_rule(text: str) -> CandidateRule:
    name, colon, size = text.partition(":")
    pool = input_values.CandidatePool(name.strip().lower())
    if not colon:
        return CandidateRule(pool)
    if pool is not input_values.CandidatePool.SAMPLE or int(size) < 1:
        raise ValueError
    return CandidateRule(pool, int(size))


def settle_kind(call: Call) -> None:
    """Look up `--recipe`, which also determines whether to rank or to embed. Raises InputError for a missing file."""
    given = vars(call)
    for path in filter(None, (given.get("file"), given.get("second"), *given.get("input", ()))):
        if path != STANDARD_INPUT:
            is_folder(path)
    call.recipe = recipe_named(Settings.load(call.paths.settings), call.recipe) if call.recipe else None
    kind = call.recipe.mapping.kind if call.recipe else call.kind
    if kind is None:
        raise usage_error("say_what_do_file_rank_or")
    if call.kind not in (None, kind):
        raise usage_error("recipe_name_is_one_kind", name=call.recipe.name, kind=kind.value)
    call.kind = kind


@asynccontextmanager
async def standard_input_as_file(path: Path) -> AsyncIterator[Path]:
    """For “-” a temporary file with the content of standard input; “.” is made absolute, so that it has a name."""
    if path != STANDARD_INPUT:
        yield path if path.name else await asyncio.to_thread(path.absolute)
        return
    if sys.stdin is None or sys.stdin.isatty():
        raise usage_error("reads_from_another_program_write_program")
    with TemporaryDirectory(prefix="cfbatch-", ignore_cleanup_errors=True) as folder:
        copy = Path(folder) / "standard input"
        with copy.open("wb") as file:
            await asyncio.to_thread(shutil.copyfileobj, sys.stdin.buffer, file)
        yield copy


_MANY = 100_000  # texts whose tokens are counted in more than a moment


def say_count(console: Console, texts: int, *, are_pairs: bool = False) -> None:
    """What was read, before the texts are counted; of pairs of two files always."""
    if texts >= _MANY:
        console.tell("n_texts_or_pairs_all_counting", n=texts)
    elif are_pairs:
        console.tell("n_pairs_of_two_files", n=texts)


def words_of_rule(rule: CandidateRule) -> str:
    return f"{rule.pool}:{rule.size}" if rule.pool is input_values.CandidatePool.SAMPLE else rule.pool.value


_TEXTS = (Role.TEXT, Role.CONTEXT)


class Inputs(input_values.AttachedInput):
    @property
    def sources(self) -> tuple[Source, ...]:
        return (self.source, self.second) if self.second else (self.source,)

    def guesses(self) -> Iterator[str]:
        for source in self.sources:
            if source.is_encoding_guessed:
                yield told(
                    "name_is_read_encoding_our_guess", name=source.path.name, encoding=said(shown_name(source.encoding))
                )


class ColumnsUnsettled(InputError):
    """The columns of `inputs` have no roles of which a job can be made."""

    def __init__(self, message: str, inputs: Inputs) -> None:
        super().__init__(message)
        self.inputs = inputs


def open_inputs(call: Call, first: Path, second: Path | None = None) -> Inputs:
    """Recognise the files and their columns' roles; a recipe stands above that, and the arguments above both.

    To be called after `settle_kind`. Raises InputError and UsageError.
    """
    recipe, options = call.recipe, _options(call)
    source = open_source(first, options)
    if options.candidates is not None and source.candidates is None and recipe is None:
        raise usage_error("name_says_itself_what_belongs_each", name=first.name)
    of_both = input_values.ReadOptions(sends_doubtful=options.sends_doubtful, leaves_hidden=options.leaves_hidden)
    other = open_source(second, of_both) if second else None
    if recipe is not None:
        mapping = _by_recipe(recipe, source, other)
    else:
        mapping = suggest_mapping(source, call.kind, preview(source), other, preview(other) if other else ())
    mapping = _over(_with_roles(mapping, source, other, call.roles), call)
    missing = check_mapping(mapping, source, other)
    if missing:
        words = message("missing_use_role_column_role_columns")
        columns = listed((*source.columns, *(other.columns if other else ())))
        raise ColumnsUnsettled(words.filled(missing=missing, columns=columns), Inputs(source, mapping, other))
    return Inputs(source, mapping, other)


def open_sent(call: Call) -> Inputs | None:
    """The files of `--input`, if there are any."""
    if len(call.input) > 2:
        raise usage_error("two_files_most_one_queries_one")
    return open_inputs(call, *call.input) if call.input else None


def _options(call: Call) -> input_values.ReadOptions:
    """For the first file."""
    options = input_values.ReadOptions(
        encoding=call.encoding,
        separator=call.separator,
        has_header=_ANSWERS.get(call.header or ""),
        sheet=call.sheet,
        unit=_UNITS.get(call.texts_by or ""),
        sends_doubtful=call.doubtful == "send",
        candidates=call.candidates,
    )
    recipe: Recipe | None = call.recipe
    if recipe is not None:
        said = {each.name: value for each in fields(options) if (value := getattr(options, each.name)) is not None}
        options = replace(recipe.options, **{**said, "leaves_hidden": recipe.options.leaves_hidden})
    return replace(options, leaves_hidden=call.hidden == "skip") if call.hidden else options


def _over(mapping: Mapping, call: Call) -> Mapping:
    """Raises UsageError for a layout that does not fit the files."""
    if call.layout is not None:
        mapping = with_layout(mapping, call.layout)
        if mapping.layout is not call.layout:
            raise usage_error("layout_layout_does_not_go_what", layout=call.layout.value)
    template, split = call.template or mapping.template, call.split or mapping.split
    return replace(mapping, template=template, split=split)


def _by_recipe(recipe: Recipe, source: Source, second: Source | None) -> Mapping:
    found = fitted(recipe, source.columns, second.columns if second else ())
    if isinstance(found, str):
        words = message("recipe_recipe_does_not_fit_name")
        raise InputError(words.filled(recipe=recipe.name, name=source.path.name, reason=found))
    return found


def _with_roles(mapping: Mapping, source: Source, second: Source | None, roles: Sequence[tuple[str, Role]]) -> Mapping:
    wanted = [(*_find(column, role, source, second), role) for column, role in roles]
    # Text columns named in the arguments replace those that were guessed.
    for is_second in {is_second for is_second, _, role in wanted if role in _TEXTS}:
        named = {column for in_second, column, _ in wanted if in_second is is_second}
        guessed = mapping.second_roles if is_second else mapping.roles
        for column, role in enumerate(guessed):
            if role in _TEXTS and column not in named:
                mapping = with_role(mapping, column, Role.KEEP, second=is_second)
    for is_second, column, role in wanted:
        mapping = with_role(mapping, column, role, second=is_second)
    return mapping


def _find(column: str, role: Role, source: Source, second: Source | None) -> tuple[bool, int]:
    """A name in both files means the first's column, unless its role is one of a text: contexts are in the second."""
    found = [(False, index_of(column, source.columns))]
    if second is not None:
        found.append((True, index_of(column, second.columns)))
        if role in _TEXTS:
            found.reverse()
    for is_second, index in found:
        if index is not None:
            return is_second, index
    columns = (*source.columns, *(second.columns if second else ()))
    raise usage_error("there_is_no_column_column_columns", column=column, columns=listed(columns))


DOUBTFUL = (ProblemKind.DOUBTFUL_ROW, ProblemKind.DOUBTFUL_SENT)
SHOWN = 20  # rows of one kind that are listed in the text; --json lists all
_INDENT = "    "
_NARROWEST = 20  # columns for a row as it stands, in however narrow a terminal


def lines_of_rows(folder: JobFolder, rows: Sequence[StoredProblem], width: int, *, total: int = 0) -> Iterator[str]:
    """Each with its reason, and where it may be misread as it stands in the file and as it was read."""
    names = {file: problem_columns(folder, file=file) for file in {row.file for row in rows if row.raw}}
    for row in rows:
        text = worded("row {n}: {reason}", n=row.row, reason=said(reason_of(row)))
        if not row.raw:
            yield f"  {elided(text, width - 2)}"
            continue
        yield from textwrap.wrap(text, max(_NARROWEST, width), initial_indent="  ", subsequent_indent=_INDENT)
        lines = [(tr("in the file"), with_signs(row.raw))]
        if row.kind in DOUBTFUL:
            cells = zip(names[row.file], row.cells, strict=False)
            lines.append((tr("as read"), " | ".join(f"{name}: {with_signs(cell[:width])}" for name, cell in cells)))
        yield from (_INDENT + elided(line, max(_NARROWEST, width - len(_INDENT))) for line in labelled(lines, 0))
    if total > len(rows):
        yield "  " + worded("and {n} more", n=total - len(rows))


def lines_of_problem(call: Call, folder: JobFolder, problem: ProblemCount) -> Iterator[str]:
    """Its sentence and its first rows; no rows of which the user has said that they are to be skipped."""
    yield said(problem.sentence)
    if problem.kind is not ProblemKind.DOUBTFUL_ROW or call.doubtful != "skip":
        rows = problems(folder, kind=problem.kind, limit=SHOWN)
        yield from lines_of_rows(folder, rows, call.console.width, total=problem.count)


def status_with_doubtful(call: Call, status: ExitStatus, found: Sequence[ProblemCount]) -> ExitStatus:
    """FAILED instead of DONE if rows were left out about which nobody has decided."""
    left_out = sum(each.count for each in found if each.kind is ProblemKind.DOUBTFUL_ROW)
    if status is not ExitStatus.DONE or not left_out or call.doubtful is not None:
        return status
    call.console.tell(
        "n_doubtful_rows_are_left_out", n=left_out, failed=f"{ExitStatus.FAILED:d}", done=f"{ExitStatus.DONE:d}"
    )
    return ExitStatus.FAILED


def reason_of(row: StoredProblem) -> str:
    return row.reason if row.file == 1 else message("second_file_reason", reason=row.reason)
