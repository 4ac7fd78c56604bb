"""`--recipe` and `--budget`: recipes and budgets saved in the window, and the budget that prevents a send."""

from pathlib import Path

import pytest
import xlsxwriter

from cfbatch_gui.core.inputs.input_values import Kind, Layout, Mapping, ReadOptions, Role
from cfbatch_gui.core.inputs.recipes import Recipe, as_setting
from cfbatch_gui.core.jobs.store.ledger import Ledger
from cfbatch_gui.core.system.paths import Paths
from cfbatch_gui.core.system.settings import Budget, Settings
from tests.journeys.terminal import Terminal

RECIPE = Recipe(
    "Products",
    ("sku", "title", "body", "secret"),
    Mapping(Kind.EMBED, Layout.TEXTS, (Role.ID, Role.KEEP, Role.TEXT, Role.IGNORE), template="{title}. {body}"),
    ReadOptions(separator=";"),
)


@pytest.fixture(autouse=True)
def _recipe(paths: Paths) -> None:
    paths.create()
    Settings(recipes=as_setting([RECIPE])).save(paths.settings)


@pytest.fixture
def products(tmp_path: Path) -> Path:
    path = tmp_path / "may.csv"
    path.write_text("body;title;sku\nwarm, and of brass;Lamp;1\ncold;Chair;2\n")
    return path


def test_a_recipe_says_all_that_is_needed(terminal: Terminal, products: Path) -> None:
    facts = terminal.run("check", products, "--recipe", "products", "--json").json
    assert (facts["kind"], facts["texts"], facts["template"]) == ("embed", 2, "{title}. {body}")
    assert facts["roles"] == {"body": "text", "title": "keep", "sku": "id"}
    assert facts["files"][0]["separator"] == ";"


def test_the_command_line_stands_above_the_recipe(terminal: Terminal, products: Path) -> None:
    said = ("--template", "{body}", "--split", "400", "--role", "sku=ignore")
    facts = terminal.run("check", products, "--recipe", "Products", *said, "--json").json
    assert (facts["template"], facts["roles"]["sku"]) == ("{body}", "ignore")
    assert facts["split"] == {"tokens": 400, "overlap": 0}
    products.write_text("body,title,sku\na,b,c\n")
    assert terminal.run("check", products, "--recipe", "Products", "--separator", ",", "--embed").status == 0


def test_a_recipe_leaves_hidden_rows_out_unless_the_command_line_sends_them(
    terminal: Terminal, paths: Paths, tmp_path: Path
) -> None:
    path = tmp_path / "may.xlsx"
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet()
        sheet.write_column(0, 0, ["text", "one", "two", "three"])
        sheet.set_row(2, None, None, {"hidden": True})
    mapping = Mapping(Kind.EMBED, Layout.TEXTS, (Role.TEXT,))
    shown = Recipe("Shown", ("text",), mapping, ReadOptions(leaves_hidden=True))
    Settings(recipes=as_setting([shown])).save(paths.settings)
    by_arguments: dict[tuple[str, ...], int] = {
        ("--recipe", "Shown"): 2,
        ("--recipe", "Shown", "--hidden", "send"): 3,
        ("--embed",): 3,
    }
    for arguments, texts in by_arguments.items():
        assert terminal.run("check", path, *arguments, "--json").json["texts"] == texts, arguments


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("may.csv", "--recipe", "Goods"), "there_is_no_recipe_name_there"),
        (("may.csv", "--recipe", "Products", "--rank"), "recipe_name_is_one_kind"),
        (("may.csv",), "say_what_do_file_rank_or"),
        (("other.csv", "--recipe", "Products"), "recipe_recipe_does_not_fit_name"),
    ],
)
def test_a_recipe_that_does_not_do_is_a_sentence(
    terminal: Terminal, products: Path, arguments: tuple[str, ...], code: str
) -> None:
    products.with_name("other.csv").write_text("title;text\na;b\n")
    ended = terminal.run("check", products.with_name(arguments[0]), *arguments[1:])
    assert ended.status == 2 and code in ended.codes


@pytest.fixture
def account(terminal: Terminal) -> Terminal:
    """An account whose service answers no request, so that a command refused with OverBudget cannot have sent one."""
    terminal.connect("http://127.0.0.1:9/client/v4")
    return terminal


def test_run_refuses_what_may_cost_more(account: Terminal, products: Path, paths: Paths) -> None:
    ended = account.run("run", products, "--embed", "--connection", "cloudflare", "--budget", "0")
    assert (ended.status, ended.out) == (5, "") and "job_may_cost_amount_your_budget" in ended.codes
    assert Ledger.open_read_only(paths).jobs() == ()


def test_run_keeps_to_the_budget_of_the_window_unless_it_has_its_own(
    account: Terminal, products: Path, paths: Paths
) -> None:
    Settings(budget=Budget(a_job=0.001, unit="neurons")).save(paths.settings)
    ended = account.run("run", products, "--embed", "--connection", "cloudflare")
    assert ended.status == 5 and "0.001" in ended.err
    assert account.run("run", products, "--embed", "--connection", "practice").status == 0
