"""`cfbatch judgements`: files into books, books into files, and what is said about them."""

import json
from pathlib import Path

import pytest

from cfbatch_gui.core.system.paths import Paths
from tests.cli.conftest import Codes, Run, keep_job
from tests.core.results.folders import Pair


@pytest.fixture(autouse=True)
def _job(paths: Paths) -> None:
    pairs = [Pair("red", "apple", 0.5, id="A"), Pair("red", "leaf", 0.4, id="B")]
    keep_job(paths, "one", pairs, title="Fruit")


def test_a_file_goes_into_a_book_and_out_again(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "qrels.txt"
    file.write_text("red 0 A 2\nred 0 Z 1\n", "utf-8")
    assert run("judgements", "show", "--json")[1].split() == ["{", '"books":', "[]", "}"]
    assert run("judgements", "import", file, "--book", "Support, 2026")[0] == 0
    found = json.loads(run("judgements", "import", file, "--book", "support, 2026", "--json")[1])
    assert found == {
        **{"book": "Support, 2026", "form": "trec", "read": 2, "added": 0},
        **{"matched": 0, "unmatched": 0, "conflicting": 0, "bad": 0},
    }
    assert run("judgements", "export", tmp_path / "out.txt", "--format", "trec", "--book", "Support, 2026")[0] == 0
    assert (tmp_path / "out.txt").read_text("utf-8") == file.read_text("utf-8")


def test_bad_lines_stop_the_import_unless_they_may_be_left_out(run: Run, codes: Codes, tmp_path: Path) -> None:
    file = tmp_path / "rated.csv"
    file.write_text("query,docid,rating\nred,A,2\nred,B,maybe\n", "utf-8")
    assert run("judgements", "import", file)[0] == 2 and "n_lines_are_no_judgement_named" in codes()
    assert json.loads(run("judgements", "show", "--json")[1]) == {"books": []}
    assert run("judgements", "import", file, "--skip-bad")[0] == 1
    assert json.loads(run("judgements", "show", "--json")[1])["books"][0]["tally"]["pairs"] == 1


def test_words_become_grades_when_the_user_says_so(run: Run, paths: Paths) -> None:
    labelled = [Pair("red", f"text {at}", 0.5 - at / 10, label="yes" if at == 2 else "no") for at in range(4)]
    keep_job(paths, "words", labelled, title="Words")
    status, out, err = run("judgements", "grades", "Words")
    assert (status, out) == (0, "")
    assert "“cfbatch judgements grades JOB --accept”" in err
    assert run("judgements", "grades", "Words", "--accept")[1].split() == ["0", "no", "1", "yes"]
    assert run("judgements", "grades", "Words", "--use", "yes=3,no=1")[1].split() == ["1", "no", "3", "yes"]
    assert run("judgements", "grades", "Words", "--accept")[0] == 2  # nothing is left to propose
    assert run("judgements", "grades", "Words", "--forget")[:2] == (0, "")
    assert run("judgements", "grades", "Words", "--use", "yes")[0] == 2
