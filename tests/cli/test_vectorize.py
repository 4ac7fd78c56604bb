"""`cfbatch vectorize`: pushing, listing and searching from the terminal."""

from pathlib import Path

from tests.journeys.terminal import Ended, Terminal

_FIRST = ["1,warm hat,north,3.5", "2,cold hat,south,4", "3,a bicycle,north,100", "4,a red bicycle,north,120"]
_SECOND = ["1,warm hat,north,3.5", "2,a cold hat,south,4", "4,a red bicycle,north,120", "5,gloves,south,7"]


def embedded(terminal: Terminal, folder: Path, name: str, lines: list[str], connection: str = "practice") -> None:
    path = folder / f"{name}.csv"
    path.write_text("id,text,shop,price\n" + "\n".join(lines) + "\n", encoding="utf-8")
    ended = terminal.run("run", path, "--embed", "--connection", connection, "--name", name)
    assert ended.status == 0


def push(terminal: Terminal, job: str, *more: object) -> Ended:
    return terminal.run("vectorize", "push", job, "--index", "products", *more)


def test_a_job_goes_into_a_new_index_and_a_new_version_replaces_what_changed(
    terminal: Terminal, tmp_path: Path
) -> None:
    embedded(terminal, tmp_path, "one", _FIRST)
    embedded(terminal, tmp_path, "two", _SECOND)
    missing = push(terminal, "one")
    assert (missing.status, missing.out, missing.codes) == (1, "", {"there_is_no_index_index_account"})

    created = push(terminal, "one", "--create", "--metadata", "shop, price=cost", "--namespace", "shop")
    assert created.status == 0

    other = push(terminal, "one", "--metric", "euclidean")
    assert (other.status, other.codes) == (2, {"index_index_is_there_already_compares"})

    second = push(terminal, "two", "--metadata", "shop, price=cost", "--namespace", "shop", "--json")
    assert (second.json["sent"], second.json["vectors"], second.json["check"]["gone"]) == (2, 4, 1)
    third = push(terminal, "two", "--metadata", "shop, price=cost", "--namespace", "shop", "--delete-removed", "--json")
    assert (third.json["sent"], third.json["deleted"], third.json["in_index"]) == (0, 1, 4)
    assert third.json["outcome"] == "verified"
    assert third.json["check"]["numbers"] == ["cost"]

    listed = terminal.run("vectorize", "list", "--connection", "practice", "--json").json["indexes"]
    assert [(each["name"], each["config"]["metric"]) for each in listed] == [("products", "cosine")]
    assert "products" in terminal.run("vectorize", "list", "--connection", "practice").out
    about = terminal.run("vectorize", "info", "products", "--connection", "practice", "--json").json
    assert about["vectorCount"] == 4
    found = terminal.run("vectorize", "search", "two", "red bike", "--index", "products")
    assert found.status == 0
    assert found.out.splitlines()[1].endswith("4  a red bicycle")
    as_json = terminal.run("vectorize", "search", "two", "red bike", "--index", "products", "--json").json
    assert (as_json["hits"][0]["id"], as_json["shared"]) == ("4", 4)


def test_what_would_be_refused_is_said_with_its_rows_and_makes_no_index(terminal: Terminal, tmp_path: Path) -> None:
    embedded(terminal, tmp_path, "one", _FIRST)
    ended = push(terminal, "one", "--create", "--ids", "shop", "--json")
    assert ended.status == 2
    assert (ended.json["check"]["problems"][0]["count"], ended.json["check"]["problems"][0]["rows"]) == (2, [4, 5])
    assert terminal.run("vectorize", "list", "--connection", "practice", "--json").json == {"indexes": []}
    assert push(terminal, "one", "--create", "--row-ids").status == 0
