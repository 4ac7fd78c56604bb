"""`--doubtful`: rows that may have been misread are listed, sent or skipped, with an exit status."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run

TEXTS = (
    'id,text\n1,one\n2,"two" and more\n3,three\n4,5" screen\n5,five\n6,"six\n7,seven, too"\n8,eight\n9,"nine, too"\n'
)
LEFT_OUT = "3 rows may have been misread and will be left out."
SENT = "3 rows that may have been misread will be sent as they were read."
RAW = {3: '2,"two" and more', 5: '4,5" screen', 7: '6,"six\n7,seven, too"'}
CELLS = {3: ["2", "two and more"], 5: ["4", '5" screen'], 7: ["6", "six\n7,seven, too"]}


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    path = tmp_path / "texts.csv"
    path.write_text(TEXTS, encoding="utf-8")
    return path


def lines_about(text: str, sentence: str) -> list[str]:
    lines = text.splitlines()
    found = []
    for line in lines[lines.index(sentence) + 1 :]:
        if not line.startswith("  "):
            break
        found.append(line)
    return found


def test_check_lists_them_as_they_stand_and_as_read(run: Run, texts: Path) -> None:
    status, out, err = run("check", texts, "--embed")
    assert status == 1
    found = lines_about(out, LEFT_OUT)
    assert [line for line in found if line.startswith("    in the file")] == [
        '    in the file  2,"two" and more',
        '    in the file  4,5" screen',
        '    in the file  6,"six↵7,seven, too"',
    ]
    assert '    as read      id: 4 | text: 5" screen' in found
    assert found[0].startswith("  row 3: After a closing quotation mark")
    assert max(map(len, found)) <= 80
    assert "3 doubtful rows are left out: exit status 1." in err


@pytest.mark.parametrize(("choice", "texts_sent", "status"), [((), 5, 1), (("skip",), 5, 0), (("send",), 8, 0)])
def test_check_as_an_object(run: Run, texts: Path, choice: tuple[str, ...], texts_sent: int, status: int) -> None:
    ended, out, _ = run("check", texts, "--embed", "--json", *(("--doubtful", *choice) if choice else ()))
    facts = json.loads(out)
    assert (ended, facts["texts"]) == (status, texts_sent)
    listed, empty = ("doubtful_sent", "problems") if choice == ("send",) else ("problems", "doubtful_sent")
    assert {each["row"]: each["raw"] for each in facts[listed]} == RAW
    assert {each["row"]: each["cells"] for each in facts[listed]} == CELLS
    assert facts[empty] == []


def test_run_does_the_rest_and_says_so_by_its_status(run: Run, texts: Path) -> None:
    status, out, err = run("run", texts, "--embed", "--connection", "practice", "--name", "rest", "--json")
    said = json.loads(out)
    assert (status, said["state"], said["rows_sent"]) == (1, "done", 5)
    assert {each["row"]: (each["kind"], each["cells"]) for each in said["problems"]} == {
        row: ("doubtful_row", cells) for row, cells in CELLS.items()
    }
    assert '    in the file  2,"two" and more' in lines_about(err, LEFT_OUT)
    assert err.splitlines()[-1].startswith("3 doubtful rows are left out: exit status 1.")
    status, out, _ = run("show", "rest")
    assert status == 0 and "3 problems:" in out and '    in the file  4,5" screen' in out
    assert "    as read      id: 2 | text: two and more" in out


def test_what_the_user_leaves_out_is_no_failure(run: Run, texts: Path) -> None:
    arguments = (texts, "--embed", "--doubtful", "skip")
    status, out, err = run("run", *arguments, "--connection", "practice")
    assert status == 0 and out
    assert lines_about(err, LEFT_OUT) == [] and "exit status" not in err
    status, out, _ = run("check", *arguments)
    assert status == 0 and lines_about(out, LEFT_OUT) == []


def test_what_the_user_sends_is_sent_as_it_was_read(run: Run, texts: Path, tmp_path: Path) -> None:
    path = tmp_path / "vectors.jsonl"
    arguments = ("--embed", "--doubtful", "send", "--connection", "practice", "--name", "all", "--out", path)
    status, out, err = run("run", texts, *arguments, "--json")
    said = json.loads(out)
    assert (status, said["rows_sent"], said["problems"]) == (0, 8, [])
    assert [each["row"] for each in said["doubtful_sent"]] == [3, 5, 7]
    assert SENT in err.splitlines() and "left out" not in err
    assert {"two and more", '5" screen', "six\n7,seven, too"} <= {
        json.loads(line)["text"] for line in path.read_text("utf-8").splitlines()
    }


def test_one_word_is_for_both_files(run: Run, tmp_path: Path) -> None:
    queries, contexts = tmp_path / "queries.csv", tmp_path / "contexts.csv"
    queries.write_text('id,query\n1,why\n2,"what" is it\n3,how\n', encoding="utf-8")
    contexts.write_text('sku,text\nA,one\nB,"two" and more\nC,three\nD,5" screen\nE,six\n', encoding="utf-8")
    arguments = ("check", queries, contexts, "--rank")
    status, out, _ = run(*arguments)
    assert status == 1
    assert [line for line in lines_about(out, LEFT_OUT) if "second file" in line and "row" in line] != []
    assert "    as read      sku: B | text: two and more" in out
    status, out, _ = run(*arguments, "--doubtful", "send", "--json")
    facts = json.loads(out)
    assert (status, facts["queries"], facts["texts"]) == (0, 3, 15)
    assert [(each["file"], each["row"]) for each in facts["doubtful_sent"]] == [(1, 3), (2, 3), (2, 5)]


def test_nothing_but_doubtful_rows_is_bad_input(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "one.csv"
    path.write_text('id,text\n2,"two" and more\n', encoding="utf-8")
    status, _, err = run("run", path, "--embed", "--connection", "practice")
    assert status == 2
    assert '    in the file  2,"two" and more' in err
    assert run("run", path, "--embed", "--connection", "practice", "--doubtful", "send")[0] == 0
