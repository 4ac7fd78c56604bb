"""`cfbatch judgements`: files into books, books into files, and what is said about them."""

from pathlib import Path

import pytest

from cfbatch_gui.core.system.paths import Paths
from tests.cli.conftest import keep_job
from tests.core.results.folders import Pair
from tests.journeys.terminal import Terminal

BOOK = "Support, 2026"


@pytest.fixture(autouse=True)
def _job(paths: Paths) -> None:
    pairs = [Pair("red", "apple", 0.5, id="A"), Pair("red", "leaf", 0.4, id="B")]
    keep_job(paths, "one", pairs, title="Fruit")


def test_a_file_goes_into_a_book_and_out_again(terminal: Terminal, tmp_path: Path) -> None:
    file = tmp_path / "qrels.txt"
    file.write_text("red 0 A 2\nred 0 Z 1\n", "utf-8")
    assert terminal.run("judgements", "show", "--json").json == {"books": []}
    assert terminal.run("judgements", "import", file, "--book", BOOK).status == 0
    found = terminal.run("judgements", "import", file, "--book", "support, 2026", "--json").json
    assert found == {
        **{"book": BOOK, "form": "trec", "read": 2, "added": 0},
        **{"matched": 0, "unmatched": 0, "conflicting": 0, "bad": 0},
    }
    assert terminal.run("judgements", "export", tmp_path / "out.txt", "--format", "trec", "--book", BOOK).status == 0
    assert (tmp_path / "out.txt").read_text("utf-8") == file.read_text("utf-8")


def test_bad_lines_stop_the_import_unless_they_may_be_left_out(terminal: Terminal, tmp_path: Path) -> None:
    file = tmp_path / "rated.csv"
    file.write_text("query,docid,rating\nred,A,2\nred,B,maybe\n", "utf-8")
    ended = terminal.run("judgements", "import", file)
    assert ended.status == 2 and "n_lines_are_no_judgement_named" in ended.codes
    assert terminal.run("judgements", "show", "--json").json == {"books": []}
    assert terminal.run("judgements", "import", file, "--skip-bad").status == 1
    assert terminal.run("judgements", "show", "--json").json["books"][0]["tally"]["pairs"] == 1


def test_words_become_grades_when_the_user_says_so(terminal: Terminal, paths: Paths) -> None:
    labelled = [Pair("red", f"text {at}", 0.5 - at / 10, label="yes" if at == 2 else "no") for at in range(4)]
    keep_job(paths, "words", labelled, title="Words")
    grades = ("judgements", "grades", "Words")
    ended = terminal.run(*grades)
    assert (ended.status, ended.out) == (0, "") and "--accept" in ended.err
    assert terminal.run(*grades, "--accept").out.split() == ["0", "no", "1", "yes"]
    assert terminal.run(*grades, "--use", "yes=3,no=1").out.split() == ["1", "no", "3", "yes"]
    assert terminal.run(*grades, "--accept").status == 2, "nothing is left to propose"
    assert terminal.run(*grades, "--forget").status == 0
    assert terminal.run(*grades, "--use", "yes").status == 2
