"""`cfbatch match` and `cfbatch related`, from two files to a sheet, on the practice service."""

import csv
from pathlib import Path

import openpyxl
import pytest

from cfbatch_gui.core.resources import resource
from tests.journeys.terminal import Terminal
from tests.support.sentences import shows

OLD = """Address,Title,Status
https://e.example/a,Stock pot steel,200
https://e.example/b,Frying pan,200
https://e.example/c,,404
https://e.example/d,Zebra crossing,200
https://e.example/kept,Tea kettle,200
"""
NEW = """Address,Title
https://e.example/new/pan,Frying pan
https://e.example/new/pot,Stock pot of steel
https://e.example/kept,tea kettle
https://e.example/new/lamp,A lamp
"""


@pytest.fixture
def lists(tmp_path: Path) -> tuple[Path, Path]:
    found = tmp_path / "old.csv", tmp_path / "new.csv"
    for path, content in zip(found, (OLD, NEW), strict=True):
        path.write_text(content)
    return found


def rows(path: Path) -> list[list[str]]:
    with path.open(newline="") as file:
        return list(csv.reader(file))


def test_redirects_of_two_lists_in_one_command(terminal: Terminal, lists: tuple[Path, Path], tmp_path: Path) -> None:
    redirects, sheet = tmp_path / "map.csv", tmp_path / "sheet.xlsx"
    outputs = ("--to", "redirects", redirects, "--out", sheet)
    found = terminal.run("match", *lists, "--text", "Title", "--threshold", "0.6", *outputs)
    assert found.status == 0, found.err
    assert rows(redirects)[0] == ["old", "new", "score"]
    assert [row[:2] for row in rows(redirects)[1:]] == [
        ["https://e.example/a", "https://e.example/new/pot"], ["https://e.example/b", "https://e.example/new/pan"],
    ]  # fmt: skip
    header, *cells = openpyxl.load_workbook(sheet).worksheets[0].iter_rows(values_only=True)
    assert header[:5] == ("Address", "Title", "Status", "Address (B)", "Title (B)")
    assert [row[0] for row in cells] == [row.split(",")[0] for row in OLD.splitlines()[1:]]


def test_the_pages_of_two_crawls_need_no_options(terminal: Terminal, tmp_path: Path) -> None:
    old, new = (resource(f"examples/{name}-pages.csv") for name in ("old", "new"))
    assert terminal.run("match", old, new, "--out", tmp_path / "redirects.csv").status == 0
    found = [row[:2] for row in rows(tmp_path / "redirects.csv")[1:]]
    pages = [{row[0] for row in rows(path)[1:]} for path in (old, new)]
    assert len(found) > 40 and all(page in pages[0] and other in pages[1] for page, other in found)
    assert all(page != other for page, other in found)


def test_the_same_lists_again_send_nothing_and_say_the_same(terminal: Terminal, lists: tuple[Path, Path]) -> None:
    first = terminal.run("match", *lists, "--text", "Title", "--each-once", "--top", "2", "--json").json
    again = terminal.run("match", *lists, "--text", "Title", "--each-once", "--top", "2", "--json").json
    assert again["matches"] == first["matches"]
    assert (again["batches"], bool(first["batches"])) == ([], True)
    assert {pair["rank"] for pair in first["matches"]["pairs"]} == {1, 2}
    shown = terminal.run("show", again["job"], "--json").json
    assert shown["matches"] == first["matches"]
    assert "Stock pot of steel" in terminal.run("show", again["job"]).out
    written = lists[0].with_name("again.jsonl")
    assert terminal.run("export", again["job"], "--out", written).status == 0
    assert len(written.read_text().splitlines()) == 5


def test_columns_are_joined_and_limits_are_columns_of_both_lists(terminal: Terminal, lists: tuple[Path, Path]) -> None:
    texts = ("--template", "A={Title} {Status}", "--text", "B=Title", "--text", "B=Address", "--not-within", "Address")
    pairs = terminal.run("match", *lists, *texts, "--json").json["matches"]["pairs"]
    assert pairs[0]["text"] == "Stock pot steel 200"
    assert all(", " in pair["match_text"] for pair in pairs)
    refused = terminal.run("match", *lists, "--within", "Status")
    assert (refused.status, refused.codes) == (2, {"list_has_no_column"})
    refused = terminal.run("match", *lists, "--text", "B=Status")
    assert (refused.status, refused.codes) == (2, {"list_has_no_column"})
    assert terminal.run("match", *lists, "--threshold", "70").status == 2


def test_decisions_go_in_and_out(terminal: Terminal, lists: tuple[Path, Path], tmp_path: Path) -> None:
    given, kept, sheet = tmp_path / "said.csv", tmp_path / "kept.csv", tmp_path / "sheet.csv"
    given.write_text("query,text,grade\nZebra crossing,A lamp,1\nStock pot steel,Stock pot of steel,0\n")
    files = ("--decisions", given, "--write-decisions", kept, "--out", sheet)
    assert terminal.run("match", *lists, "--text", "Title", *files).status == 0
    assert [row[-1] for row in rows(sheet)[1:]][::3] == ["none", "accepted"]
    elsewhere = Terminal(tmp_path / "elsewhere", terminal.environ)
    assert elsewhere.run("match", *lists, "--text", "Title", "--decisions", kept, "--out", sheet).status == 0
    assert [row[-1] for row in rows(sheet)[1:]][::3] == ["none", "accepted"]


def test_related_rows_are_those_of_the_same_list(terminal: Terminal, lists: tuple[Path, Path]) -> None:
    found = terminal.run("related", lists[0], "--text", "Title", "--text", "Status", "--top", "2", "--json").json
    pairs = found["matches"]["pairs"]
    assert [pair["row"] for pair in pairs] == [row for row in (2, 3, 4, 5, 6) for _ in range(2)]
    assert all(pair["row"] != pair["match_id"] and pair["text"] != pair["match_text"] for pair in pairs)
    assert "Zebra crossing, 200" in terminal.run("related", lists[0], "--text", "Title", "--text", "Status").out


def test_a_ranking_of_all_pairs_says_what_a_match_would_send(connected: Terminal, tmp_path: Path) -> None:
    lists = tmp_path / "questions.csv", tmp_path / "answers.csv"
    for rows_of_each, codes in ((2, {"n_pairs_of_two_files"}), (320, {"n_texts_or_pairs_all_counting"})):
        for path in lists:
            lines = "\n".join(f"{path.stem} {row}" for row in range(rows_of_each))
            path.write_text(f"{path.stem}\n{lines}\n")
        roles = ("--role", "questions=query", "--role", "answers=context")
        found = connected.run("run", *lists, "--rank", *roles, "--connection", "cloudflare", "--budget", "0")
        assert found.status == 5, found.err
        assert all(shows(found.err, code) for code in codes)
        assert ("102,400" in found.err, "640" in found.err) == (rows_of_each == 320,) * 2
