"""`--doubtful`: rows that may have been misread are listed, sent or skipped, with an exit status."""

from pathlib import Path

import pytest

from tests.journeys.terminal import Terminal

TEXTS = (
    'id,text\n1,one\n2,"two" and more\n3,three\n4,5" screen\n5,five\n6,"six\n7,seven, too"\n8,eight\n9,"nine, too"\n'
)
RAW = {3: '2,"two" and more', 5: '4,5" screen', 7: '6,"six\n7,seven, too"'}
CELLS = {3: ["2", "two and more"], 5: ["4", '5" screen'], 7: ["6", "six\n7,seven, too"]}
SHOWN = ('2,"two" and more', '4,5" screen', '6,"six↵7,seven, too"', 'id: 4 | text: 5" screen', "text: two and more")


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    path = tmp_path / "texts.csv"
    path.write_text(TEXTS, encoding="utf-8")
    return path


@pytest.mark.parametrize("command", [("check",), ("run", "--connection", "practice", "--name", "job")])
@pytest.mark.parametrize(("choice", "sent", "status"), [((), 5, 1), (("skip",), 5, 0), (("send",), 8, 0)])
def test_they_are_left_out_or_sent_as_they_were_read(
    terminal: Terminal, texts: Path, command: tuple[str, ...], choice: tuple[str, ...], sent: int, status: int
) -> None:
    arguments = (*command, texts, "--embed", *(("--doubtful", *choice) if choice else ()))
    ended = terminal.run(*arguments, "--json")
    facts = ended.json
    assert (ended.status, facts.get("rows_sent", facts.get("texts"))) == (status, sent)
    listed, empty = ("doubtful_sent", "problems") if choice == ("send",) else ("problems", "doubtful_sent")
    assert {each["row"]: each["raw"] for each in facts[listed]} == RAW
    assert {each["row"]: each["cells"] for each in facts[listed]} == CELLS
    assert facts[empty] == []
    assert ("--doubtful" in ended.err) is (not choice), "how to decide"
    if command == ("check",):
        said = terminal.run(*arguments).out
    else:
        said = ended.err
        kept = ("export", "job", "--out", texts.with_name("vectors.jsonl"))
        assert (
            terminal.run(*kept).status == 0
            and len(texts.with_name("vectors.jsonl").read_text("utf-8").splitlines()) == sent
        )
    assert all(words in said for words in SHOWN) is (choice != ("skip",)), "as they stand in the file, and as read"
    assert all(len(line) <= 80 for line in said.splitlines() if line.startswith("    "))


def test_they_are_listed_by_a_later_look_at_the_job(terminal: Terminal, texts: Path) -> None:
    assert terminal.run("run", texts, "--embed", "--connection", "practice", "--name", "rest").status == 1
    said = terminal.run("show", "rest").out
    assert all(words in said for words in SHOWN)


def test_nothing_but_doubtful_rows_is_bad_input(terminal: Terminal, tmp_path: Path) -> None:
    path = tmp_path / "one.csv"
    path.write_text('id,text\n2,"two" and more\n', encoding="utf-8")
    ended = terminal.run("run", path, "--embed", "--connection", "practice")
    assert ended.status == 2 and '2,"two" and more' in ended.err
    assert terminal.run("run", path, "--embed", "--connection", "practice", "--doubtful", "send").status == 0
