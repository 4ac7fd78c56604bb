"""The exports of matches: every row of list A is there once, in its place, and reads back with what it gets of B."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import openpyxl
import pytest
from arro3.io import read_parquet

from cfbatch_gui.core.connections.credentials import Credentials
from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.inputs.file_rows import preview
from cfbatch_gui.core.inputs.input_values import Kind, Role
from cfbatch_gui.core.inputs.layouts import with_role
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.inputs.suggest import suggest_mapping
from cfbatch_gui.core.jobs.states import Job, MatchOptions, Purpose
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.results.exports import ExportOptions, export, target_for
from cfbatch_gui.core.results.exports.targets import targets_for
from cfbatch_gui.core.results.matches import Decision, MatchState, read_matches
from tests.canary import TOKEN
from tests.core.results.test_exports_csv import manifest
from tests.support import faults
from tests.support.clients import save_cloudflare
from tests.support.faulty_service import ThreadedService
from tests.support.keyrings import MemoryKeyring
from tests.support.lists import numbered_lists, two_lists
from tests.support.sentences import refuses, shows

LONG = "長い" * 16_000  # too much for the model, but not for a cell in Excel
A = f"""url,Title,Price
/a/pot,Stock pot steel,9.50
/a/pan,Frying pan,20.00
/a/none,,1.00
/a/pan-2,FRYING PAN,21.00
/a/long,{LONG},2.00
/a/zebra,Zebra crossing,3.00
/same,Tea kettle,=1+1
"""
B = """url,Title,Secret,Shelf
/b/pan,Frying pan,x,K1
/b/pot,Stock pot of steel,x,K2
/b/empty,,x,K3
/same,tea kettle,x,K4
/b/lamp,A lamp,x,K5
"""
ROWS = [row[0] for row in csv.reader(io.StringIO(A))][1:]


@pytest.fixture
async def job(program: Program, tmp_path: Path) -> Job:
    """With equal texts, a row without a text in either list, and one that is too long to be sent."""
    (tmp_path / "a.csv").write_text(A)
    (tmp_path / "b.csv").write_text(B)
    source, second = open_source(tmp_path / "a.csv"), open_source(tmp_path / "b.csv")
    mapping = suggest_mapping(source, Kind.EMBED, preview(source), second, preview(second))
    mapping = replace(mapping, roles=(Role.KEEP, Role.TEXT, Role.KEEP))
    mapping = with_role(replace(mapping, second_roles=(Role.KEEP, Role.TEXT, Role.IGNORE, Role.KEEP)), 1, Role.TEXT)
    job = program.drafts.create(Kind.EMBED, "lists", program.settings.model, "practice")
    matching = MatchOptions(threshold=0.6)
    options = replace(job.options, purpose=Purpose.MATCH, matching=matching, truncate_inputs=False)
    program.drafts.change(job.id, options=options)
    program.drafts.load(job.id, source, mapping, second)
    await program.actions.send(job.id)
    await program.runner.wait(job.id)
    return program.ledger.job(job.id)


def decided(text: str) -> Decision | None:
    """A person said that a zebra crossing is a lamp."""
    return Decision("A lamp", accepted=True) if text == "Zebra crossing" else None


def rows_of(path: Path) -> list[dict[str, object]]:
    """The rows of a file, whatever its form, with "" for nothing."""
    if path.suffix == ".xlsx":
        header, *rows = openpyxl.load_workbook(path).worksheets[0].iter_rows(values_only=True)
        found = [dict(zip(map(str, header), row, strict=True)) for row in rows]
    elif path.suffix == ".csv":
        with path.open(encoding="utf-8-sig", newline="") as file:
            found = list(csv.DictReader(file))
    elif path.suffix == ".jsonl":
        found = [json.loads(line) for line in path.read_text().splitlines()]
    else:
        table = read_parquet(path).read_all()
        columns = {name: table[name].to_pylist() for name in table.column_names}
        found = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return [{name: "" if cell is None else cell for name, cell in row.items()} for row in found]


@pytest.mark.parametrize(
    ("form", "name"),
    [("", "out.xlsx"), ("", "out.csv"), ("matches-csv-excel", "out.csv"), ("", "out.jsonl"), ("", "out.parquet")],
)
async def test_every_row_is_in_its_place_with_what_it_gets(
    program: Program, job: Job, tmp_path: Path, form: str, name: str
) -> None:
    path = tmp_path / name
    target = target_for(path, job.kind, form, job.purpose)
    assert target.is_of_matches
    exported = export(program.folder(job.id), job, path, target, decided=decided)
    rows = rows_of(path)
    assert exported.rows == len(rows) == len(ROWS)
    assert [row["url"] for row in rows] == ROWS
    assert list(rows[0])[:6] == ["url", "Title", "Price", "url (B)", "Title (B)", "Shelf"]
    assert [row["url (B)"] for row in rows] == ["/b/pot", "/b/pan", "", "/b/pan", "", "/b/lamp", "/same"]
    states = [str(row[list(row)[-1]]) for row in rows]
    assert [
        shows(states[at], code) for at, code in ((2, "there_is_no_text_column"), (4, "text_is_longer_than_model_reads"))
    ] == [True, True]
    if not target.is_for_people:
        assert [states[at] for at in (0, 1, 3, 5, 6)] == ["matched", "same", "same", "accepted", "same"]
    score = list(rows[0])[6]
    assert [float(str(rows[at][score])) for at in (1, 3)] == [1.0, 1.0]
    said = manifest(exported.manifest.with_name(exported.manifest.name.removesuffix(".manifest.json")))["export"]
    assert {"threshold": 0.6, "matched": 5, "to_check": 0, "without": 1}.items() <= said["matches"].items()
    again = open_source(path)  # as a list of its own, with the same columns
    assert list(again.columns) == list(rows[0])


async def test_what_is_left_of_b_is_in_a_second_sheet(program: Program, job: Job, tmp_path: Path) -> None:
    path = tmp_path / "out.xlsx"
    export(program.folder(job.id), job, path, decided=decided)
    sheet = openpyxl.load_workbook(path).worksheets[1]
    assert [*sheet.iter_rows(values_only=True)] == [("url", "Title", "Shelf"), ("/b/empty", None, "K3")]


async def test_the_next_best_and_the_chosen_columns(program: Program, job: Job, tmp_path: Path) -> None:
    path, folder = tmp_path / "out.csv", program.folder(job.id)
    export(folder, job, path, options=ExportOptions(top_k=2, columns=("Shelf",), threshold=2.0))
    first, second, *_ = rows_of(path)
    assert list(first)[3:] == ["Shelf", "score", "margin", "state", "Shelf (B 2)", "score 2"]
    assert (first["Shelf"], first["state"], second["Shelf"], second["state"]) == ("", "without", "K1", "same")
    assert float(str(second["score"])) > float(str(second["score 2"]))
    with refuses(UsageError, "job_no_column_name_there_are"):
        export(folder, job, path, options=ExportOptions(columns=("Secret",)))


async def test_pairs_and_redirects(program: Program, job: Job, tmp_path: Path) -> None:
    path, folder = tmp_path / "out.csv", program.folder(job.id)
    export(folder, job, path, target_for(path, job.kind, "pairs"), options=ExportOptions(top_k=2), decided=decided)
    rows = rows_of(path)
    assert [row["row"] for row in rows] == [str(row) for row in (2, 3, 5, 7, 8) for _ in range(2)]
    assert [row["rank"] for row in rows] == ["1", "2"] * 5
    assert (rows[6]["match_text"], rows[6]["state"], rows[7]["state"]) == ("A lamp", "accepted", "")
    export(folder, job, path, target_for(path, job.kind, "redirects"), decided=decided)
    rows = rows_of(path)
    assert list(rows[0]) == ["old", "new", "score"]
    assert [(row["old"], row["new"]) for row in rows] == [
        ("/a/pot", "/b/pot"), ("/a/pan", "/b/pan"), ("/a/pan-2", "/b/pan"), ("/a/zebra", "/b/lamp"),
    ]  # fmt: skip


async def test_failed_rows_of_both_lists_are_kept_apart(program: Program, job: Job, tmp_path: Path) -> None:
    path, folder = tmp_path / "out.csv", program.folder(job.id)
    with folder.open() as database:
        database.execute("UPDATE requests SET state = 'failed', error = 'broken'")
    export(folder, job, path, target_for(path, job.kind, "failed"))
    assert [row["url"] for row in rows_of(path)] == ROWS
    assert [row["Shelf"] for row in rows_of(tmp_path / "out-second-file.csv")] == ["K1", "K2", "K3", "K4", "K5"]


async def test_rows_whose_request_failed_are_in_their_place(tmp_path: Path) -> None:
    fault = faults.fail_requests(on="poll", times=0, requests=(2,))
    credentials = Credentials(MemoryKeyring(), {})
    with ThreadedService(tmp_path / "service", fault).opened() as service:
        environ = {"CLOUDFLARE_API_BASE_URL": service.url}
        program = await Program.open(tmp_path / "data", environ=environ, credentials=credentials)
        await save_cloudflare(program, "0123456789abcdef0123456789abcdef", TOKEN)
        a, b = numbered_lists(120)
        job = await two_lists(program, tmp_path, a, b, connection="cloudflare", threshold=-1.0)
        export(program.folder(job.id), job, path := tmp_path / "out.csv")
        rows = rows_of(path)
        await program.close()
    assert [row["id"] for row in rows] == [line.split(",")[0] for line in a.splitlines()[1:]]
    failed = [row for row in rows if not row["sku"]]
    assert 0 < len(failed) < len(rows) and all(str(row["state"]).startswith("AiError") for row in failed)
    assert failed == rows[-len(failed) :]


async def test_related_rows_stand_beside_one_another(program: Program, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('name\nred pan\nblue pan\n""\nRed pan\nzebra\n')
    source = open_source(tmp_path / "a.csv")
    job = program.drafts.create(Kind.EMBED, "rows", program.settings.model, "practice")
    options = replace(job.options, purpose=Purpose.MATCH, matching=MatchOptions(best=2))
    program.drafts.change(job.id, options=options)
    program.drafts.load(job.id, source, suggest_mapping(source, Kind.EMBED, preview(source)))
    await program.actions.send(job.id)
    await program.runner.wait(job.id)
    job, path = program.ledger.job(job.id), tmp_path / "out.xlsx"
    export(program.folder(job.id), job, path, options=ExportOptions(top_k=2))
    rows = rows_of(path)
    assert [row["name"] for row in rows] == ["red pan", "blue pan", "", "Red pan", "zebra"]
    assert [rows[at]["name (1)"] for at in (0, 3)] == ["Red pan", "red pan"]
    assert MatchState.CHECK not in read_matches(program.folder(job.id), job).states
    assert all(row["name (2)"] for row in rows if row["name"])
    assert len(openpyxl.load_workbook(path).sheetnames) == 2


async def test_every_row_is_there_once_also_beside_categories(program: Program, job: Job, tmp_path: Path) -> None:
    job = program.drafts.use_for(job.id, purpose=Purpose.CATEGORIES)
    folder, path = program.folder(job.id), tmp_path / "sorted.csv"
    assert export(folder, job, path).rows == len(ROWS)
    header, *found = csv.reader(io.StringIO(path.read_text()))
    assert header[3:] == ["category", "score", "second_best", "margin", "state"]
    assert [row[0] for row in found] == ROWS
    assert [row[3] for row in found if row[7] == "same"] == ["Frying pan", "Frying pan", "tea kettle"]
    assert all(row[3:7] == [""] * 4 and " " in row[7] for row in (found[2], found[4]))  # the reasons
    assert {each.name for each in targets_for(job.kind, job.purpose)}.isdisjoint({"redirects", "pairs", "matches"})
