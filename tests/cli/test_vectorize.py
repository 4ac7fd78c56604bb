"""`cfbatch vectorize`: pushing, listing and searching from the terminal."""

from pathlib import Path

import pytest

from tests.journeys.terminal import Ended, Terminal

ROWS = ["1,warm hat,north,3.5", "2,cold hat,south,4", "3,a bicycle,north,100", "4,a red bicycle,north,120"]


@pytest.fixture
def terminal(connected: Terminal, tmp_path: Path) -> Terminal:
    """With a job of four vectors, "one"."""
    path = tmp_path / "one.csv"
    path.write_text("\n".join(["id,text,shop,price", *ROWS]), encoding="utf-8")
    assert connected.run("run", path, "--embed", "--connection", "cloudflare").status == 0
    return connected


def push(terminal: Terminal, *more: object) -> Ended:
    return terminal.run("vectorize", "push", "one", "--index", "products", *more)


def test_a_job_goes_into_a_new_index_which_is_listed_and_searched(terminal: Terminal) -> None:
    refused = push(terminal, "--connection", "practice")
    assert (refused.status, refused.codes) == (2, {"practice_has_no_vectorize"})

    missing = push(terminal)
    assert (missing.status, missing.out, missing.codes) == (1, "", {"there_is_no_index_index_account"})

    created = push(terminal, "--create", "--metadata", "shop, price=cost", "--namespace", "shop")
    assert created.status == 0

    other = push(terminal, "--metric", "euclidean")
    assert (other.status, other.codes) == (2, {"index_index_is_there_already_compares"})

    again = push(terminal, "--metadata", "shop, price=cost", "--namespace", "shop", "--json").json
    assert (again["sent"], again["in_index"], again["outcome"]) == (0, 4, "verified")
    assert again["check"]["numbers"] == ["cost"]

    listed = terminal.run("vectorize", "list", "--connection", "cloudflare", "--json").json["indexes"]
    assert [(each["name"], each["config"]["metric"]) for each in listed] == [("products", "cosine")]
    assert "products" in terminal.run("vectorize", "list", "--connection", "cloudflare").out
    about = terminal.run("vectorize", "info", "products", "--connection", "cloudflare", "--json").json
    assert about["vectorCount"] == 4
    found = terminal.run("vectorize", "search", "one", "red bike", "--index", "products")
    assert found.status == 0
    assert found.out.splitlines()[1].endswith("4  a red bicycle")
    as_json = terminal.run("vectorize", "search", "one", "red bike", "--index", "products", "--json").json
    assert (as_json["hits"][0]["id"], as_json["shared"]) == ("4", 4)


def test_what_would_be_refused_is_said_with_its_rows_and_makes_no_index(terminal: Terminal) -> None:
    ended = push(terminal, "--create", "--ids", "shop", "--json")
    assert ended.status == 2
    assert (ended.json["check"]["problems"][0]["count"], ended.json["check"]["problems"][0]["rows"]) == (2, [4, 5])
    assert terminal.run("vectorize", "list", "--connection", "cloudflare", "--json").json == {"indexes": []}
    assert push(terminal, "--create", "--row-ids").status == 0
