"""`cfbatch show` of a job of vectors: the figures that the window has."""

from pathlib import Path

import pytest

from tests.journeys.terminal import Terminal

TEXTS = "id,text\n" + "".join(
    f"{number:03},{('Desk lamp of brass', 'Garden hose', 'Desk lamp of brass', 'Steel saucepan')[number % 4]}\n"
    for number in range(8)
)


@pytest.fixture
def job(terminal: Terminal, tmp_path: Path) -> str:
    file = tmp_path / "texts.csv"
    file.write_text(TEXTS, encoding="utf-8")
    ended = terminal.run("run", file, "--embed", "--connection", "practice", "--at-once", "--json")
    assert ended.status == 0
    assert ended.json["vectors"]["repeated"] == 5
    return str(ended.json["job"])


def test_health_duplicates_and_clusters(terminal: Terminal, job: str) -> None:
    shown = terminal.run("show", job).out
    assert "Dimension   256" in shown
    assert "(unit length)" in shown
    assert "Near duplicates" not in shown
    shown = terminal.run("show", job, "--duplicates", "0.99", "--clusters", "3").out
    assert "Near duplicates from 0.99: 3 groups, 5 texts would go" in shown
    assert "  stays          000  Desk lamp of brass" in shown
    assert "  goes   1.0000  002  Desk lamp of brass" in shown
    assert "3 clusters of 8 texts" in shown
    assert "  1  4 texts, likeness 1.0000" in shown
    found = terminal.run("show", job, "--duplicates", "0.99", "--clusters", "3", "--json").json
    assert found["vectors"]["unit_length"] is True
    assert found["duplicates"]["gone"] == 5
    assert [each["id"] for each in found["duplicates"]["groups"][0]["goes"]] == ["002", "004", "006"]
    assert [each["size"] for each in found["clusters"]["clusters"]] == [4, 2, 2]
    assert found["clusters"]["clusters"][0]["rows"] == [2, 4, 6, 8]


def test_what_does_not_fit_is_said(terminal: Terminal, job: str, tmp_path: Path) -> None:
    assert terminal.run("show", job, "--duplicates", "95").status == 2
    assert terminal.run("show", job, "--clusters", "0").status == 2
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("query,context\nlamp,a lamp\nlamp,a hose\n", encoding="utf-8")
    ranked = terminal.run("run", pairs, "--rank", "--connection", "practice", "--at-once", "--json").json["job"]
    ended = terminal.run("show", ranked, "--clusters", "3")
    assert (ended.status, ended.complaint.split(";")[-1]) == (2, " this one ranks.")
