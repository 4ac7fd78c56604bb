"""`--candidates` of `cfbatch check` and `cfbatch run`, for a data set without a run."""

import argparse
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from cfbatch_gui.cli.main import main
from cfbatch_gui.cli.reading import candidate_rule, words_of_rule
from cfbatch_gui.core.connections.address_book import PRACTICE_SECONDS_VARIABLE
from cfbatch_gui.core.inputs.input_values import CandidatePool, CandidateRule
from tests.core.inputs.collections import data_set

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv(PRACTICE_SECONDS_VARIABLE, "0")

    def run(*arguments: object) -> tuple[int, str, str]:
        status = main([*map(str, arguments), "--data-dir", str(tmp_path / "data")])
        said = capsys.readouterr()
        return status, said.out, said.err

    return run


def test_check_offers_each_choice_with_what_it_comes_to(run: Run, tmp_path: Path) -> None:
    folder = data_set(tmp_path / "set")
    status, out, _ = run("check", folder, "--rank")
    assert status == 0
    lines = [line for line in out.splitlines() if "pairs, " in line]
    assert lines[0].startswith("  judged     3 pairs, ")
    assert lines[0].endswith("; nothing can be measured: every candidate is relevant")
    assert lines[1].startswith("→ sample:50  100 pairs, ")
    assert lines[2].startswith("  corpus     240 pairs, ")
    _, out, _ = run("check", folder, "--rank", "--candidates", "corpus", "--json")
    facts = json.loads(out)
    assert facts["texts"] == 240
    assert facts["candidates"]["chosen"] == "corpus"
    offers = facts["candidates"]["offers"]
    assert [(each["candidates"], each["texts"], each["measures_nothing"]) for each in offers] == [
        ("judged", 3, True),
        ("sample:50", 100, False),
        ("corpus", 240, False),
    ]
    assert offers[2]["price"]["high"] == pytest.approx(facts["price"]["high"])


def test_run_sends_what_was_chosen_and_measures_it(run: Run, tmp_path: Path) -> None:
    folder = data_set(tmp_path / "set")
    for choice, texts, nothing in (("judged", 3, True), ("sample:10", 20, False)):
        status, out, err = run("run", folder, "--rank", "--candidates", choice, "--connection", "practice", "--json")
        assert status == 0, err
        facts = json.loads(out)
        assert facts["rows_sent"] == texts
        job = facts["job"]
        _, out, _ = run("show", job, "--json")
        assert json.loads(out)["quality"]["measures_nothing"] is nothing


def test_a_file_that_names_its_candidates_takes_no_choice(run: Run, tmp_path: Path) -> None:
    folder = data_set(tmp_path / "set")
    (folder / "bm25.run").write_text("q1 Q0 d003 1 2.5 tag\n")
    table = tmp_path / "a.csv"
    table.write_text("query,text\nwhy,because\n")
    for path in (folder, table):
        status, _, err = run("check", path, "--rank", "--candidates", "corpus")
        assert status == 2
        assert f"{path.name} says itself what belongs to each query." in err
        _, out, _ = run("check", path, "--rank", "--json")
        assert json.loads(out)["candidates"] is None


def test_the_words_of_the_choice() -> None:
    for words, rule in (
        ("judged", CandidateRule(CandidatePool.JUDGED)),
        ("corpus", CandidateRule(CandidatePool.CORPUS)),
        ("sample", CandidateRule()),
        ("sample:50", CandidateRule()),
        ("sample:7", CandidateRule(size=7)),
    ):
        assert candidate_rule(words) == rule
        assert candidate_rule(words_of_rule(rule)) == rule
    for words in ("all", "sample:", "sample:0", "sample:many", "judged:3", ""):
        with pytest.raises(argparse.ArgumentTypeError, match="should be judged, corpus, sample"):
            candidate_rule(words)
