"""The exports of groups and duplicates: every row of the file is there once, in its place, with what it belongs to."""

import csv
from dataclasses import replace
from pathlib import Path

import openpyxl
import pytest

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.inputs.file_rows import preview
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.jobs.states import DuplicateOptions, GroupOptions, Job, Purpose
from cfbatch_gui.core.judgements.screening import Screening
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.results.embeddings import Embeddings
from cfbatch_gui.core.results.exports import export, target_for
from cfbatch_gui.core.results.job_groups import read_groups
from cfbatch_gui.core.results.nearest import ask
from cfbatch_gui.core.results.screening import Verdict, read_records
from tests.core.inputs.files import suggested
from tests.core.results.test_exports_matches import rows_of
from tests.support.sentences import refuses

SHEET = """id,name,price
k1,red steel pan,1
k2,red steel pan,=2
k3,blue garden hose,3
k4,,4
k5,green garden chair,5
k6,Red steel pan,6
"""
ROWS = [*csv.reader(SHEET.splitlines())][1:]


@pytest.fixture
async def job(program: Program, tmp_path: Path) -> Job:
    (tmp_path / "a.csv").write_text(SHEET)
    source = open_source(tmp_path / "a.csv")
    draft = program.drafts.create(Kind.EMBED, "groups", program.settings.model, "practice")
    grouping = GroupOptions(number=2, names=((1, "Pans"),))
    options = replace(
        draft.options,
        purpose=Purpose.GROUPS,
        grouping=grouping,
        duplicates=DuplicateOptions(kept=(5,)),
    )
    program.drafts.change(draft.id, options=options)
    program.drafts.load(draft.id, source, suggested(source, Kind.EMBED))
    await program.actions.send(draft.id)
    await program.runner.wait(draft.id)
    return program.ledger.job(draft.id)


async def test_every_row_comes_back_with_its_group_in_each_form(program: Program, job: Job, tmp_path: Path) -> None:
    folder, found = program.folder(job.id), read_groups(program.folder(job.id), job)
    groups = dict(zip(found.item_numbers.tolist(), found.members.tolist(), strict=True))
    assert len(set(groups.values())) == 2
    expected = []
    for number, row in enumerate(ROWS, 1):
        item = number - (number > 4)  # a row without a text is none
        at = groups[item] if row[1] else None
        pans = "k6" if number in (1, 2) else ""
        expected.append([*row, *(("", "", "") if at is None else (str(at + 1), found.groups[at].name, "")), pans])
    for suffix in ("csv", "jsonl", "parquet", "xlsx"):
        export(folder, job, path := tmp_path / f"out.{suffix}")
        cells = [[*map(str, row)] for row in read(path)]
        assert [[*row[:5], "", row[6]] for row in cells] == expected
        assert [bool(row[5]) for row in cells] == [bool(row[1]) for row in ROWS]
    assert openpyxl.load_workbook(tmp_path / "out.xlsx").worksheets[1].max_row == 3
    export(folder, job, tmp_path / "vectors.csv", target_for(tmp_path, Kind.EMBED, "csv"))
    with (tmp_path / "vectors.csv").open() as file:
        of_vectors = list(csv.DictReader(file))
    assert [(row["id"], row["group_name"], row["duplicate_of"]) for row in of_vectors] == [
        (row[0], row[4], row[6]) for row in expected if row[1]
    ]


async def test_duplicates_end_in_the_own_sheet(program: Program, job: Job, tmp_path: Path) -> None:
    for name in ("kept.duplicates.csv", "kept.duplicates.xlsx"):
        export(program.folder(job.id), job, tmp_path / name)
        cells = [[*map(str, row)] for row in read(tmp_path / name)]
        assert [row[:3] for row in cells] == ROWS
        assert [row[3] for row in cells] == ["1", "1", "", "", "", "1"]
        assert [row[4] for row in cells] == ["no", "no", "yes", "yes", "yes", "yes"]


def read(path: Path) -> list[list[object]]:
    return [[*row.values()] for row in rows_of(path)]


RECORDS = """TY  - JOUR
TI  - Orientation of honeybees
AB  - How bees find their way home.
KW  - bees
KW  - flight
ER  -

TY  - JOUR
TI  - Prices of copper
ER  -

TY  - JOUR
TI  - Orientation of honeybees
AB  - How bees find their way home.
ER  -
"""


async def test_a_screening_comes_back_as_records_with_its_decisions(program: Program, tmp_path: Path) -> None:
    (tmp_path / "a.ris").write_text(RECORDS)
    source = open_source(tmp_path / "a.ris")
    draft = program.drafts.create(Kind.EMBED, "records", program.settings.model, "practice")
    program.drafts.load(draft.id, source, suggested(source, Kind.EMBED))
    program.drafts.change(draft.id, options=replace(draft.options, purpose=Purpose.SEARCH))
    await program.actions.send(draft.id)
    await program.runner.wait(draft.id)
    job, folder = program.ledger.job(draft.id), program.folder(draft.id)
    with refuses(UsageError, "screening_has_no_question"):
        read_records(folder, job)
    client = program.address_book.client("practice")
    await ask(client, job, Embeddings(folder), ["how do bees navigate"], now=1.0)
    job = program.drafts.use_for(job.id, screening="how do bees navigate")
    screening = Screening(read_records(folder, job), program.decisions_of(job), clock=program.clock)
    assert screening.record is not None and screening.record.row == 1
    screening.decide(Verdict.EXCLUDE)
    screening.take_back()
    screening.decide(Verdict.INCLUDE)
    flow = screening.flow
    assert (flow.identified, flow.duplicates, flow.screened, flow.included, flow.left) == (3, 1, 1, 1, 1)
    find = program.decisions_of(job).find
    for name in ("out.csv", "out.xlsx"):
        target = target_for(tmp_path / name, Kind.EMBED, f"screening{'-csv' if name == 'out.csv' else ''}")
        export(folder, job, tmp_path / name, target, decided=find)
        found = [[*map(str, row)] for row in read(tmp_path / name)]
        assert [(row[-3], row[-1]) for row in found] == [("1", "include"), ("3", ""), ("2", "duplicate")]
    export(folder, job, tmp_path / "out.ris", decided=find)
    again = open_source(tmp_path / "out.ris")
    titles = [row.cells[again.columns.index("title")] for row in preview(again)]
    assert titles == ["Orientation of honeybees", "Prices of copper", "Orientation of honeybees"]
    assert "decision: include" in (tmp_path / "out.ris").read_text()
    assert (tmp_path / "out.ris").read_text().count("KW  - ") == 2
