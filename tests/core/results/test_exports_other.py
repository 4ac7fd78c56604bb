"""Excel, JSON Lines and NumPy files, read by independent libraries; columns and rows that the user chooses."""

import json
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import arro3.io
import numpy as np
import openpyxl
import pytest
import python_calamine
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from cfbatch_gui.core.errors import ExportError, UsageError
from cfbatch_gui.core.inputs.file_rows import read_rows
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results.exports import TARGETS, ExportOptions, Measure, Target, columns_of
from cfbatch_gui.core.results.exports import excel as excel_target
from cfbatch_gui.core.results.exports.rows import vector_texts
from cfbatch_gui.words.languages import load_language
from tests.core.results.conftest import NO_TEXT
from tests.core.results.folders import FAILED, NASTY, THERE, Outcome, Pair, Table, unit_vectors
from tests.core.results.test_exports_csv import manifest, read
from tests.support.sentences import refuses


def test_excel_has_four_sheets_of_plain_cells(mixed: Table, tmp_path: Path) -> None:
    path = tmp_path / "ranked.xlsx"
    exported = mixed.export(path)
    assert (exported.rows, exported.format) == (9, "xlsx")
    book = openpyxl.load_workbook(path)
    assert book.sheetnames == ["Ranking", "Problems", "Per query", "About"]
    header, *rows = book["Ranking"].iter_rows(values_only=True)
    assert (*header[:3], *header[4:]) == ("question", "Rank (CF Batch)", "Score", "number", "stars", "rank")
    assert [(row[1], row[4], row[3], row[2]) for row in rows] == [
        (1, "B", "second", 0.5),
        (2, "D", "third\nline", 0.25),
        (2, "007", "first", 0.25),
        (4, "H", "seventh", 0.125),
        (1, "C", "メール", 0.125),
    ]
    assert [row[6] for row in rows] == ["=1+1", "-3", "x", "h", None]
    assert all(cell.data_type != "f" for row in book["Ranking"].iter_rows() for cell in row)
    problems = list(book["Problems"].iter_rows(values_only=True))
    assert problems[0][-1] == "Reason" and len(problems) == 5
    for sheet in book.worksheets[:-1]:
        assert sheet.freeze_panes == "A2" and sheet.auto_filter.ref.startswith("A1:")
    per_query = list(book["Per query"].iter_rows(min_row=2, values_only=True))
    assert per_query == [("how do I reset", 7, 4, 0.5, 0.25), ("パスワードを忘れた", 1, 1, 0.125, None)]
    about = list(book["About"].iter_rows(min_row=2, values_only=True))
    metadata = dict(about)
    assert metadata["Model"] == "@cf/baai/bge-m3"
    assert (metadata["Texts with a score"], metadata["Not back yet"]) == ("5", "1")
    assert "request-1" not in metadata.values(), "that is for programs, and in the manifest"


def test_excel_keeps_every_text_and_every_double(table: Table, tmp_path: Path) -> None:
    scores = np.random.default_rng(3).random(len(NASTY)).tolist()
    table.rank([Pair("q", text, score, id=text, kept=(text,)) for text, score in zip(NASTY, scores, strict=True)])
    path = tmp_path / "nasty.xlsx"
    table.export(path)
    rows = python_calamine.load_workbook(path).get_sheet_by_name("Ranking").to_python()[1:]
    found = {row[4]: [row[3], row[5], row[2]] for row in rows}
    assert found == {text: [text, text, score] for text, score in zip(NASTY, scores, strict=True)}


def test_excel_refuses_what_it_cannot_hold(table: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table.rank([Pair("q", "😀" * 16_384, 0.5, kept=("",)), Pair("q", "b", 0.25, kept=("",))])
    path = tmp_path / "long.xlsx"
    path.write_bytes(b"old")
    with refuses(ExportError, "excel_takes_most_characters_cell_text"):
        table.export(path)
    with table.folder.open() as database:
        database.execute("UPDATE texts SET text = ? WHERE text_no = 1", ("😀" * 16_383,))
    monkeypatch.setattr(excel_target, "MOST_ROWS", 2)
    with refuses(ExportError, "excel_takes_most_rows_sheet_name"):
        table.export(path)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["job", "long.xlsx"]
    assert path.read_bytes() == b"old"
    monkeypatch.undo()
    assert table.export(path).counts.is_complete


def test_json_lines_of_rankings(mixed: Table, tmp_path: Path) -> None:
    path = tmp_path / "ranked.jsonl"
    exported = mixed.export(path, options=ExportOptions(top_k=2))
    first, second = (json.loads(line) for line in path.read_text("utf-8").split("\n")[:-1])
    assert exported.rows == 2
    assert (first["query"], second["query"]) == ("how do I reset", "パスワードを忘れた")
    assert [(context["rank"], context["doc_id"]) for context in first["contexts"]] == [
        (1, "B"), (2, "D"), (2, "007"), (None, "E"), (None, "F"), (None, "G"),
    ]  # fmt: skip
    assert first["contexts"][2] == {
        "rank": 2, "doc_id": "007", "text": "first", "score": 0.25, "tie_group": 1, "initial_rank": 1,
        "rank_change": -1, "label": "1", "external_reference": "reference-1", "request_id": "request-1",
        "status": "done", "error": "", "columns": {"rank": "x"},
    }  # fmt: skip


def in_lines(path: Path) -> tuple[list[str], NDArray[np.float32]]:
    found = [json.loads(line) for line in path.read_text("utf-8").split("\n")[:-1]]
    assert [line["text"] for line in found] == [line["columns"]["dim_3"] for line in found]
    assert [line["text"] for line in found] == [NASTY[index] for index in THERE]
    return [line["id"] for line in found], np.array([line["embedding"] for line in found], dtype=np.float32)


def in_an_array(path: Path) -> tuple[list[str], NDArray[np.float32]]:
    return path.with_suffix(".ids.txt").read_text("utf-8").split("\n")[:-1], np.load(path, allow_pickle=False)


def in_an_archive(path: Path) -> tuple[list[str], NDArray[np.float32]]:
    with np.load(path, allow_pickle=False) as found:
        assert sorted(found.files) == ["ids", "vectors"]
        return found["ids"].tolist(), found["vectors"]


@pytest.mark.parametrize(("suffix", "read"), [(".jsonl", in_lines), (".npy", in_an_array), (".npz", in_an_archive)])
def test_vectors_and_their_ids_bit_for_bit(
    embedded: Table, tmp_path: Path, suffix: str, read: Callable[[Path], tuple[list[str], NDArray[np.float32]]]
) -> None:
    path = tmp_path / f"vectors{suffix}"
    exported = embedded.export(path)
    ids, vectors = read(path)
    assert ids == [f"id {index} 東" for index in THERE]
    assert (vectors.dtype.str, vectors.flags.c_contiguous) == ("<f4", True)
    assert vectors.tobytes() == unit_vectors(len(NASTY), 16)[THERE].tobytes()
    assert (exported.rows, exported.counts.is_complete, exported.files[0]) == (len(THERE), False, path)


def test_an_archive_takes_an_id_of_two_lines(tmp_path: Path) -> None:
    table = Table(tmp_path / "job").embed([("a\nb", "text", 1.0)], unit_vectors(1, 4))
    table.export(tmp_path / "vectors.npz")
    assert np.load(tmp_path / "vectors.npz")["ids"].tolist() == ["a\nb"]


def test_the_manifest_says_where_it_came_from(embedded: Table, tmp_path: Path) -> None:
    path = tmp_path / "vectors.npy"
    embedded.export(path, clock=lambda: 1_800_000_000.0)
    said = manifest(path)
    assert said["program"] == "CF Batch 0.1.0"
    assert said["written_at"] == "2027-01-15T08:00:00Z"
    assert said["rows"] == {
        "in": len(NASTY), "items": len(NASTY), "done": len(NASTY) - 2, "failed": 1, "waiting": 1, "left_out": 0,
        "skipped": 0, "doubtful_sent": 0,
    }  # fmt: skip
    assert said["source"] == {
        "name": "articles.csv",
        "sha256": "ab" * 32,
        "columns": {"file 1": {"key": "id", "text": "text", "dim_3": "keep", "id": "keep"}},
    }
    job = said["job"]
    assert job["request_ids"] == ["request-1", "request-2"]
    assert job["truncate_inputs"] is True
    wanted = {"format": "npy", "dimension": 16, "dtype": "float32", "rows": len(THERE), "complete": False}
    assert wanted.items() <= said["export"].items()


CHOSEN = ExportOptions(columns=("mine", "text", "score"))


def ranked(path: Path) -> Table:
    pairs = [Pair("q", "one\ntwo", 0.5, kept=("a",)), Pair("q", "three", FAILED, kept=("b",))]
    return Table(path, kept=("mine",)).rank(pairs, skipped=[(Pair("q", "", 0.0, kept=("c",)), "The text is empty.")])


def embedded(path: Path) -> Table:
    table = Table(path, kept=("mine", "vector"))
    return table.embed([("k1", "one", 1.0), ("k2", "two", 1.0)], unit_vectors(2, 3), kept=[("a", "v"), ("b", "w")])


def split(table: Table) -> Table:
    """Make the first two items the parts of one text."""
    with table.folder.open() as database:
        parts = "SELECT item_no, item_no, 0, 3, NULL, NULL, score FROM items WHERE item_no < 3"
        database.execute(f"INSERT INTO parts {parts}")
        database.execute("UPDATE texts SET text_id = 'k1'")
    return table


def test_a_ranking_with_the_columns_and_in_the_order_that_were_asked_for(tmp_path: Path) -> None:
    table = ranked(tmp_path / "job")
    assert columns_of(table.folder, Kind.RANK)[-2:] == ("error", "mine")
    table.export(tmp_path / "out.csv", options=CHOSEN)
    assert read(tmp_path / "out.csv") == [
        ["mine", "text", "score"], ["a", "one\ntwo", "0.5"], ["b", "three", ""], ["c", "", ""],
    ]  # fmt: skip
    table.export(tmp_path / "out.xlsx", options=CHOSEN)
    book = openpyxl.load_workbook(tmp_path / "out.xlsx")
    assert [cell.value for cell in book["Ranking"][2]] == ["a", "one\ntwo", 0.5]
    assert [cell.value for cell in book["Problems"]["A"]] == ["mine", "b", "c"]
    table.export(tmp_path / "out.jsonl", options=CHOSEN)
    assert json.loads((tmp_path / "out.jsonl").read_text("utf-8")) == {
        "contexts": [
            {"text": "one\ntwo", "score": 0.5, "columns": {"mine": "a"}},
            {"text": "three", "score": None, "columns": {"mine": "b"}},
        ]
    }


def test_vectors_with_the_columns_that_were_asked_for(tmp_path: Path) -> None:
    table = embedded(tmp_path / "job")
    assert columns_of(table.folder, Kind.EMBED) == ("text", "mine", "vector")
    table.export(tmp_path / "out.csv", options=ExportOptions(columns=("mine",)))
    assert read(tmp_path / "out.csv")[0] == ["id", "mine", "dim_0", "dim_1", "dim_2"]
    table.export(tmp_path / "none.csv", options=ExportOptions(columns=()))
    assert read(tmp_path / "none.csv")[0] == ["id", "dim_0", "dim_1", "dim_2"]
    # The text column of a format is always written. A column of the user's with a reserved name is renamed.
    path = tmp_path / "out.llm.db"
    table.export(path, "llm", options=ExportOptions(columns=("vector",)))
    with closing(sqlite3.connect(path)) as database:
        found = database.execute("SELECT content, metadata FROM embeddings").fetchall()
    assert found == [("one", '{"vector": "v"}'), ("two", '{"vector": "w"}')]


@pytest.mark.parametrize("wanted", [("score", "Mine"), ("",)])
def test_a_column_that_is_not_there_is_refused_with_those_that_are(tmp_path: Path, wanted: tuple[str, ...]) -> None:
    table = ranked(tmp_path / "job")
    with refuses(UsageError, "job_no_column_name_there_are"):
        table.export(tmp_path / "out.csv", options=ExportOptions(columns=wanted))
    with refuses(UsageError, "choose_least_one_column_nothing_was"):
        table.export(tmp_path / "out.csv", options=ExportOptions(columns=()))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["job"]


def test_results_of_split_texts_say_which_part_they_are_of(tmp_path: Path) -> None:
    split(ranked(tmp_path / "ranked")).export(tmp_path / "out.csv")
    header, *found = read(tmp_path / "out.csv")
    assert (header[-2:], [row[-2:] for row in found]) == (["part", "mine"], [["1", "a"], ["", "b"], ["", "c"]])
    table = split(embedded(tmp_path / "embedded"))
    table.export(tmp_path / "out.csv")
    assert [row[:2] for row in read(tmp_path / "out.csv")] == [["id", "part"], ["k1", "1"], ["k1", "2"]]
    table.export(tmp_path / "vectorize", "vectorize")
    lines = (tmp_path / "vectorize" / "vectors-0001.ndjson").read_text("utf-8").splitlines()
    assert [json.loads(line)["id"] for line in lines] == ["k1#1", "k1#2"]


SECOND_AND_THIRD = ExportOptions(items=frozenset({2, 3}))
WAYS = {
    "a selection": ExportOptions(items=frozenset({2, 5})),
    "a selection of one that failed, too": ExportOptions(items=frozenset({3, 6})),
    "a threshold": ExportOptions(threshold=0.5),
    "top k of a selection": ExportOptions(top_k=1, items=frozenset({1, 2, 3, 4})),
}


def forms(kind: Kind) -> list[Target]:
    return [each for each in TARGETS if each.kind is kind and each.measure is not Measure.FAILED_ROWS]


def six_ranked(tmp_path: Path) -> Table:
    """Six contexts of two queries, with ids by their items, and labels. One failed; a further row was never sent."""
    table = Table(tmp_path / "job", kept=("shelf",))
    outcomes: tuple[Outcome, ...] = (0.75, 0.5, FAILED, 0.25, 0.6, 0.4)
    pairs = [
        Pair("one" if number < 5 else "two", f"text {number}", outcome, id=f"i{number}", label="1", kept=("s",))
        for number, outcome in enumerate(outcomes, 1)
    ]
    return table.rank(pairs, skipped=[(Pair("one", "", 0.0, id="i9", kept=("s",)), "No text.")])


def wanted(target: Target, options: ExportOptions) -> set[str]:
    """The ids of what is to be in the file, from the definition of `six_ranked`."""
    scored_only = target.measure is Measure.SCORES
    has_limits = target.has_limits and not target.is_folder  # a collection has all its texts
    ranks = {"i1": (1, 0.75), "i2": (2, 0.5), "i4": (3, 0.25), "i5": (1, 0.6), "i6": (2, 0.4)}
    there = set(ranks) if scored_only else {*ranks, "i3"}
    if options.items is None and target.name in ("csv", "csv-excel", "xlsx", "parquet"):
        there.add("i9")
    if has_limits and options.top_k is not None:
        there -= {name for name, (rank, _) in ranks.items() if rank > options.top_k}
    if has_limits and options.threshold is not None:
        there -= {name for name, (_, score) in ranks.items() if score < options.threshold}
    return there if options.items is None else {name for name in there if int(name[1:]) in options.items}


def ids_in(path: Path, target: Target) -> set[str]:
    if path.suffix == ".xlsx":
        book = openpyxl.load_workbook(path, read_only=True)
        sheets = [book[name] for name in ("Ranking", "Problems") if name in book.sheetnames]
        text = " ".join(str(cell) for sheet in sheets for row in sheet.iter_rows(values_only=True) for cell in row)
    elif path.suffix == ".parquet":
        text = " ".join(map(str, arro3.io.read_parquet(path).read_all().column("doc_id").to_pylist()))
    elif target.is_folder:
        text = " ".join((path / name).read_text("utf-8") for name in ("corpus.jsonl", "qrels/test.tsv"))
    else:
        text = path.read_text("utf-8-sig")
    return set(re.findall(r"\bi[0-9]\b", text))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("target", forms(Kind.RANK), ids=lambda each: each.name)
def test_the_file_has_exactly_the_chosen_contexts(tmp_path: Path, target: Target, way: str) -> None:
    table, options = six_ranked(tmp_path), WAYS[way]
    path = tmp_path / (f"out{target.suffixes[0]}" if target.suffixes else "out")
    exported = table.export(path, target, options=options)
    assert ids_in(path, target) == wanted(target, options)
    is_beside = exported.manifest.parent == tmp_path
    assert is_beside is not target.is_for_people, "beside a file for people there is nothing else"
    chosen = None if options.items is None else len(options.items)
    assert json.loads(exported.manifest.read_bytes())["export"]["chosen"] == chosen


def test_the_own_sheet_keeps_what_is_beyond_the_limits_without_its_figures(tmp_path: Path) -> None:
    table, path = six_ranked(tmp_path), tmp_path / "out.xlsx"
    exported = table.export(path, options=ExportOptions(top_k=2, threshold=0.5, in_own_order=True))
    _, *rows = openpyxl.load_workbook(path)["Ranking"].iter_rows(values_only=True)
    assert [(row[2], *row[5:7]) for row in rows] == [
        ("i1", 1, 0.75), ("i2", 2, 0.5), ("i3", None, None), ("i4", None, None), ("i5", 1, 0.6), ("i6", None, None),
        ("i9", None, None),
    ]  # fmt: skip
    assert json.loads(exported.manifest.read_bytes())["export"]["dropped_by_top_k_or_threshold"] == 2


def test_the_failed_rows_of_a_selection(tmp_path: Path) -> None:
    table = six_ranked(tmp_path)
    (target,) = (each for each in TARGETS if each.kind is Kind.RANK and each.measure is Measure.FAILED_ROWS)
    for items, found in ((None, {"i3", "i9"}), (frozenset({2, 3}), {"i3"})):
        table.export(tmp_path / "f.csv", target, options=ExportOptions(items=items))
        assert ids_in(tmp_path / "f.csv", target) == found
    with pytest.raises(ExportError):
        table.export(tmp_path / "g.csv", target, options=ExportOptions(items=frozenset({1})))


def test_failed_rows_with_formulas_are_read_again_as_they_were(tmp_path: Path) -> None:
    table = Table(tmp_path / "job", kept=("note",))
    table.rank([Pair("q", "a", 0.5, kept=("",)), Pair("q", "=1+1", FAILED, kept=("-x",))])
    exported = table.export(tmp_path / "f.csv", "failed")
    assert exported.manifest == tmp_path / "f.csv.manifest.json", "it is needed to read the file again"
    assert b"'=1+1" in (tmp_path / "f.csv").read_bytes()
    source = open_source(tmp_path / "f.csv")
    (row,) = read_rows(source)
    assert row.cells[:5] == ("q", "=1+1", "", "", "-x")


def test_queries_of_which_nothing_was_chosen_are_not_in_a_workbook(tmp_path: Path) -> None:
    table = six_ranked(tmp_path)
    table.export(tmp_path / "out.xlsx", options=ExportOptions(items=frozenset({5})))
    book = openpyxl.load_workbook(tmp_path / "out.xlsx")
    assert [row[0] for row in book["Per query"].iter_rows(min_row=2, values_only=True)] == ["two"]


def test_numbers_are_shown_as_the_file_has_them(tmp_path: Path) -> None:
    table = Table(tmp_path / "job", kept=("price",))
    table.rank([Pair("q", "2024", 1 / 3, kept=("1.50",)), Pair("q", "2025", 0.25, kept=("20.00",))])
    table.export(tmp_path / "out.xlsx")
    header, first, _ = openpyxl.load_workbook(tmp_path / "out.xlsx")["Ranking"].iter_rows()
    by_name = {str(name.value): cell for name, cell in zip(header, first, strict=True)}
    assert (by_name["price"].value, by_name["price"].number_format) == (1.5, "0.00_)")
    assert (by_name["Score"].value, by_name["Score"].number_format) == (1 / 3, "0.0000_)")
    assert by_name["article"].value == "2024", "a text stays a text"


@pytest.mark.parametrize("target", forms(Kind.EMBED), ids=lambda each: each.name)
def test_only_the_chosen_texts_are_written(table: Table, tmp_path: Path, target: Target) -> None:
    texts = [(str(number), text, 1.0) for number, text in enumerate(("first", "second", "third", "fourth"))]
    table.embed(texts, np.eye(4, 8, dtype=np.float32), [("k",)] * 4)
    path = tmp_path / (f"out{target.suffixes[0]}" if target.suffixes else "out")
    exported = table.export(path, target, options=SECOND_AND_THIRD)
    assert exported.rows == 2 * (3 if target.name == "pairs" else 1)
    if target.name in ("csv", "jsonl", "openai"):
        text = path.read_text("utf-8")
        assert "first" not in text and "fourth" not in text
    if target.name == "npy":
        assert np.array_equal(np.load(path), np.eye(4, 8, dtype=np.float32)[1:3])


def test_a_workbook_has_sheets_headers_and_reasons_in_the_users_language(mixed: Table, tmp_path: Path) -> None:
    language = load_language("de")
    german = language.translated
    mixed.export(tmp_path / "out.xlsx", say=language.said)
    book = openpyxl.load_workbook(tmp_path / "out.xlsx")
    assert book.sheetnames == [german(name) for name in ("Ranking", "Problems", "Per query", "About")]
    assert book.sheetnames[-1] == "Über"
    headers = [cell.value for cell in book[german("Ranking")][1]]
    assert {german("Rank"), german("Score")} <= set(headers)
    assert book[german("Per query")]["A1"].value == "question", "the header of their own file"
    reasons = [row[-1] for row in book[german("Problems")].iter_rows(values_only=True)]
    assert reasons[0] == german("Reason")
    assert language.said(message("row_number_reason", number=10, reason=NO_TEXT)) in reasons


EDGES = [
    0.0, -0.0, 1.0, -1.0, 0.1, 0.5, 1e-45, 1.1754944e-38, 3.4028235e38, 9.999999e-15, 1e-14, 1.0000001e-14, 999999.9,
    1e6, 16777216.0, 2.0**-10, 2.0**-33, 0.33333334, 123456.79, 1e-5, 9.5367432e-7,
]  # fmt: skip


@example(EDGES)
@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=50))
def test_any_float32(numbers: list[float]) -> None:
    vectors = np.array([numbers], dtype=np.float32)
    found = json.loads(vector_texts(vectors)[0])
    assert found == [float(np.format_float_scientific(number, unique=True)) for number in vectors[0]]
    assert np.array(found, dtype=np.float32).tobytes() == vectors.tobytes()
