"""Rows of a list by categories: each category is the mean of the unit vectors of its sentences, and a row of list B in
matches. And how often that agrees with what is known to be right.
"""

import asyncio
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.inputs.column_names import index_of
from cfbatch_gui.core.inputs.input_values import Role
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.drafts import Drafts
from cfbatch_gui.core.jobs.states import Job, Purpose
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results import matching
from cfbatch_gui.core.results.embeddings import Embeddings, lengths_of
from cfbatch_gui.core.results.list_rows import ListColumns, ListRow, items_of, list_columns, read_rows
from cfbatch_gui.core.results.matches import (
    Decision,
    Matches,
    decided_rows,
    folded,
    has_own_texts,
    read_column,
    read_matches,
    read_sides,
    texts_of,
)
from cfbatch_gui.core.results.nearest import ask, asked
from cfbatch_gui.core.workers_ai.client import WorkersAI

LONGEST_NAME = 60  # characters
CHECKED = 40  # rows of a check by key
_CANDIDATES = 20  # categories that are kept for a row
_NAMED = re.compile(rf"(.{{1,{LONGEST_NAME}}}?)\s*(?::(?=\s|$)|：)\s*(.*)")  # no colon of an address or a time
_CODE = re.compile(r"\d|://|^/|^www\.")  # of numbers and addresses
_SAID = "SELECT item_no, text FROM items JOIN texts USING(text_no) WHERE text IN (SELECT value FROM json_each(?))"
_LOOKED_AT = 1_000  # rows, of the first and of all, for a column with categories
_UNSAID = -2  # no right category is known

Unit = NDArray[np.float64]  # (d,)


@dataclass(frozen=True, slots=True)
class Category:
    name: str
    sentences: tuple[str, ...]  # whose unit vectors are averaged

    def as_row(self, number: int) -> ListRow:
        """As a row of list B with one column, which says what belongs there."""
        said = (each.removeprefix(f"{self.name}: ") for each in self.sentences)
        about = "" if self.sentences == (self.name,) else " · ".join(said)
        return ListRow(0, self.name, "", number, (about,), "")


def parse_categories(lines: Sequence[str]) -> tuple[Category, ...]:
    """A category a line: “Name”, “Name: what belongs there”, “Name: example | example”, or cells of a sheet, of which
    the first is the name. Lines with the same name belong together.
    """
    found: dict[str, tuple[str, list[str]]] = {}
    for name, sentences in map(_parsed, lines):
        if name:
            found.setdefault(folded(name), (name, []))[1].extend(sentences)
    shown: dict[str, tuple[str, ...]] = {}
    for name, sentences in found.values():
        short = name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1].rstrip() + "…"
        shown[name if short in shown else short] = tuple(dict.fromkeys(sentences))
    return tuple(Category(*each) for each in shown.items())


def sentences_of(lines: Sequence[str]) -> tuple[str, ...]:
    """What is sent of these lines, as lines of the same categories."""
    return tuple(dict.fromkeys(sentence for each in parse_categories(lines) for sentence in each.sentences))


def _parsed(line: str) -> tuple[str, list[str]]:
    is_row = "\t" in line.strip()
    cells = [plain for cell in line.split("\t" if is_row else "|") if (plain := _plain(cell))]
    cells = cells or [_plain(line)]
    if not cells[0]:
        return "", []
    name, *examples = cells
    if not is_row and (match := _NAMED.fullmatch(name)):
        if not examples and match[2]:
            return match[1], [name]
        name, examples = match[1], [*filter(None, (match[2],)), *examples]
    return name, [f"{name}: {example}" for example in examples] or [name]


def _plain(text: str) -> str:
    return " ".join(text.split())


def lines_of(folder: JobFolder, job: Job) -> tuple[str, ...]:
    """The categories as lines: those that were typed last, else those of list B. Raises DataError."""
    typed = job.options.sorting.categories
    return tuple(_line(name, row.text) for name, row in _list_b(folder, job)) if typed is None else typed


def _list_b(folder: JobFolder, job: Job) -> list[tuple[str, ListRow]]:
    """The rows of list B with the names of their categories."""
    with folder.open(read_only=True) as database:
        _, columns = list_columns(database)
    rows = read_rows(folder, items_of(folder, 2).tolist(), job.failed_batches)
    at = _column_of_names(columns, rows)
    return [(parse_categories((row.text,))[0].name if at is None else _plain(row.cells[at]), row) for row in rows]


def _column_of_names(columns: ListColumns, rows: Sequence[ListRow]) -> int | None:
    """The labels, else the ids, else a column of plain words before the text; None for the text itself."""
    text = columns.roles.index(Role.TEXT) if Role.TEXT in columns.roles else 0
    for role in (Role.LABEL, Role.ID, Role.KEEP):
        for at in (at for at in columns.others if columns.roles[at] is role):
            names = [_plain(row.cells[at]) if at < len(row.cells) else "" for row in rows]
            are_names = all(0 < len(name) <= LONGEST_NAME for name in names) and not all(map(str.isdigit, names))
            if are_names and (role is not Role.KEEP or (at < text and not any(map(_CODE.search, names)))):
                return at
    return None


def _line(name: str, text: str) -> str:
    """The line that is read as this category with this text as its only sentence, or one that stands for it."""
    for line in (_plain(text), f"{name}: {_plain(text)}"):
        if parse_categories((line,)) == (Category(name, (line,)),):
            return line
    return f"{name}\t{_plain(text)}"


def unknown_sentences(folder: JobFolder, job: Job, lines: Sequence[str]) -> tuple[str, ...]:
    """What has to be sent before rows can be sorted into these categories. Blocking. Raises DataError."""
    wanted = sentences_of(lines)
    known = _known(folder, job, wanted)
    return tuple(sentence for sentence in wanted if sentence not in known)


async def sort_into(
    client_for: Callable[[str], WorkersAI], drafts: Drafts, job: Job, lines: Sequence[str], *, now: float
) -> Job:
    """Use a job of texts for these categories; sentences that are new are sent, once. `client_for` gives the client of
    a connection. Raises UserError, OutcomeUnknown as `ask`; then nothing has changed, but what came back is kept.
    """
    folder = drafts.folder(job.id)
    if unknown := await asyncio.to_thread(unknown_sentences, folder, job, lines):
        embeddings = await asyncio.to_thread(Embeddings, folder)
        await ask(client_for(job.connection), job, embeddings, unknown, now=now, is_question=False)
    sorting = replace(job.options.sorting, categories=tuple(lines))
    return drafts.use_for(job.id, purpose=Purpose.CATEGORIES, sorting=sorting)


def _known(folder: JobFolder, job: Job, wanted: Collection[str]) -> dict[str, Unit]:
    """Unit vectors of sentences as far as there are any: of list B, of other texts of the job, of what was asked."""
    with folder.open(read_only=True) as database:
        said = database.execute(_SAID, (json.dumps([*wanted]),)).fetchall()
    places = [(_plain(text), item) for item, text in said]
    for name, row in _list_b(folder, job):
        places += [(_plain(row.text), row.item_no), (f"{name}: {_plain(row.text)}", row.item_no)]
    embeddings = Embeddings(folder, job.failed_batches)
    present, found = embeddings.present(), asked(folder)
    if items := {sentence: item for sentence, item in places if present[item - 1]}:
        found |= dict(zip(items, embeddings.rows_of(np.fromiter(items.values(), np.int64)), strict=True))
    units: dict[str, Unit] = {}
    for sentence, vector in found.items():
        length = float(lengths_of(vector[None])[0])
        if 0 < length < math.inf:
            units[_plain(sentence)] = vector.astype(np.float64) / length
    return units


def read_categories(
    folder: JobFolder,
    job: Job,
    decided: Callable[[str], Decision | None] = lambda text: None,
    *,
    progress: Callable[[float], None] = lambda share: None,
) -> Matches:
    """The rows of list A as matches of the categories. Blocking: a second for 100,000 rows. Raises DataError."""
    lines = lines_of(folder, job)
    categories = parse_categories(lines)
    with folder.open(read_only=True) as database:
        texts = texts_of(database, 1)
        columns, _ = list_columns(database)
    (a,), has_texts = read_sides(folder, job, [texts]), has_own_texts(job)
    b = _centroids(categories, _known(folder, job, sentences_of(lines)), a, texts if has_texts else {})
    candidates = matching.compare_all(a, b, _CANDIDATES, progress=progress)
    measured = matching.baseline(a, b, candidates)
    threshold, best = job.options.matching.threshold, candidates.rows[:, 0]
    names = [each.name for each in categories]
    return Matches(
        folder=folder,
        items_a=np.fromiter(texts, np.int64),
        items_b=np.zeros(len(categories), np.int64),
        columns_a=columns,
        columns_b=ListColumns(("category",), (Role.KEEP,)),
        candidates=candidates,
        baseline=measured,
        first=best,
        scores=candidates.scores[:, 0],
        is_exact=True,
        differs=np.zeros(len(texts), np.bool_),
        has_texts=has_texts,
        keys=a.keys,
        each_once=False,
        threshold=measured.proposed if threshold is None else threshold,
        decided=decided_rows([*texts.values()], names, best, decided, each_once=False) if has_texts else {},
        failed_batches=job.failed_batches,
        categories=categories,
    )


def read_by_purpose(
    folder: JobFolder,
    job: Job,
    decided: Callable[[str], Decision | None] = lambda text: None,
    *,
    progress: Callable[[float], None] = lambda share: None,
) -> Matches:
    """What a job is for: its categories, or its matches."""
    read = read_categories if job.purpose is Purpose.CATEGORIES else read_matches
    return read(folder, job, decided, progress=progress)


def _centroids(
    categories: Sequence[Category], known: Mapping[str, Unit], a: matching.Side, texts: Mapping[int, str]
) -> matching.Side:
    """The categories as a list; a name has the key of equal texts of A."""
    key_of = dict(zip(map(folded, texts.values()), a.keys.tolist(), strict=False))
    means = np.zeros((len(categories), a.vectors.shape[1]), np.float32)
    for at, each in enumerate(categories):
        units = [known[sentence] for sentence in each.sentences if sentence in known]
        if units and a.scales.any():  # else there are no vectors of A, and no dimension
            means[at] = np.mean(units, axis=0)
    lengths = lengths_of(means)
    scales = np.divide(1, lengths, out=np.zeros(len(lengths)), where=lengths > 0)
    keys = [key_of.get(folded(each.name), -1 - at) for at, each in enumerate(categories)]
    return matching.Side(means, scales, np.array(keys, np.int64))


@dataclass(frozen=True, slots=True)
class Agreement:
    """How often rows are given what is right for them, with the 95 % interval. Of `confusions` each has the right name,
    the given one, and how often, the most first; "" is none of these. `wrong` are rows of A.
    """

    checked: int
    right: int
    low: float
    high: float
    confusions: tuple[tuple[str, str, int], ...]
    wrong: tuple[int, ...]

    @property
    def share(self) -> float:
        """NaN of none."""
        return self.right / self.checked if self.checked else math.nan


def agreement(matches: Matches, truths: Sequence[str]) -> Agreement:
    """Of what rows get by themselves, whatever people decided, with the right name for each row of A: "" is not
    known, and what is no category's name is none of these.
    """
    index = {folded(each.name): at for at, each in enumerate(matches.categories or ())}
    right = [index.get(folded(truth), -1) if truth.strip() else _UNSAID for truth in truths]
    return _agreement(matches, np.array(right, np.int64))


def _agreement(matches: Matches, right: matching.Numbers) -> Agreement:
    """Rows without a vector got nothing, and are not counted."""
    given = replace(matches, decided={}).chosen
    rows = np.flatnonzero((right != _UNSAID) & (matches.first >= 0))
    wrong = rows[given[rows] != right[rows]].tolist()
    names = [*(each.name for each in matches.categories or ()), ""]
    pairs = Counter((names[right[row]], names[given[row]]) for row in wrong)
    confusions = sorted(((*pair, count) for pair, count in pairs.items()), key=lambda each: (-each[2], each))
    low, high = wilson(len(rows) - len(wrong), len(rows))
    return Agreement(len(rows), len(rows) - len(wrong), low, high, tuple(confusions), tuple(wrong))


def wilson(right: int, count: int) -> tuple[float, float]:
    """The 95 % interval of a share (E. B. Wilson, 1927); all of it where nothing was counted."""
    if not count:
        return 0.0, 1.0
    z = NormalDist().inv_cdf(0.975)
    share, more = right / count, z * z / count
    half = z * math.sqrt(share * (1 - share) / count + more / (4 * count))
    low, high = ((share + more / 2 + sign * half) / (1 + more) for sign in (-1, 1))
    return max(0.0, low), min(1.0, high)


def proposed_column(matches: Matches) -> str:
    """The own column of list A that holds mostly names of the categories, "" for none. Blocking."""
    names = {folded(each.name) for each in matches.categories or ()}
    count = len(matches.items_a)
    most = min(count, _LOOKED_AT)
    rows = matches.rows_a(sorted({*range(most), *np.linspace(0, count - 1, most).astype(np.int64).tolist()}))
    found = []
    for at in matches.columns_a.others:
        said = [value for row in rows if at < len(row.cells) and (value := folded(row.cells[at]))]
        named = sum(value in names for value in said)
        found.append((named / max(1, len(said)), named, -at))
    share, named, at = max(found, default=(0.0, 0, 0))
    return matches.columns_a.names[-at] if share > 0.5 and named > 1 else ""


def right_names(matches: Matches, column: str) -> tuple[str, ...]:
    """What a column of list A says for each row. Blocking. Raises UsageError for a column that is not there."""
    at = index_of(column, matches.columns_a.names)
    if at is None:
        raise UsageError(message("list_has_no_column", list="A", name=column))
    with matches.folder.open(read_only=True) as database:
        return tuple(read_column(database, at, 1))


def agreement_of_job(matches: Matches, job: Job) -> Agreement | None:
    """With the column that the user chose for it; None without one. Blocking. Raises UsageError."""
    column = job.options.sorting.right_column
    return agreement(matches, right_names(matches, column)) if column else None


def summaries(matches: Matches, job: Job) -> tuple[str, ...]:
    """What became of the rows, and how often it is right where a column says so; sentences. Blocking."""
    if matches.categories is None:
        return (message("matches_summary", **matches.tally()),)
    found = agreement_of_job(matches, job)
    more = {} if found is None else {"right": found.right, "n": found.checked, "low": found.low, "high": found.high}
    column = job.options.sorting.right_column
    agrees = (message("agreement_summary", column=column, **more),) if more else ()
    return message("categories_summary", **matches.tally()), *agrees


def checks(matches: Matches, number: int = CHECKED) -> matching.Numbers:
    """Rows of A to be checked by key, at random and the same for a list each time, none twice."""
    draw = np.random.default_rng(len(matches.items_a))
    order = draw.permutation(len(matches.items_a))
    return order[matches.first[order] >= 0][:number]


def agreement_of_checks(matches: Matches) -> Agreement:
    """With what people decided about the rows of `checks`, as far as they did."""
    right = np.full(len(matches.items_a), _UNSAID)
    for row in set(checks(matches).tolist()) & matches.decided.keys():
        right[row] = matches.decided[row]
    return _agreement(matches, right)
