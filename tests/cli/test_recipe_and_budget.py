"""`--recipe` and `--budget`: recipes and budgets saved in the window, and the budget that prevents a send."""

import json
from pathlib import Path

import pytest
import xlsxwriter

from cfbatch_gui.core.inputs.input_values import Kind, Layout, Mapping, ReadOptions, Role
from cfbatch_gui.core.inputs.recipes import Recipe, as_setting
from cfbatch_gui.core.jobs.store.ledger import Ledger
from cfbatch_gui.core.system.paths import Paths
from cfbatch_gui.core.system.settings import Budget, Settings
from tests.cli.conftest import Codes, Run
from tests.journeys.terminal import connected

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


def test_a_recipe_says_all_that_is_needed(run: Run, products: Path) -> None:
    status, out, _ = run("check", products, "--recipe", "products", "--json")
    facts = json.loads(out)
    assert status == 0
    assert (facts["kind"], facts["texts"], facts["template"]) == ("embed", 2, "{title}. {body}")
    assert facts["roles"] == {"body": "text", "title": "keep", "sku": "id"}
    assert facts["files"][0]["separator"] == ";"


def test_the_command_line_stands_above_the_recipe(run: Run, products: Path) -> None:
    said = ("--template", "{body}", "--split", "400", "--role", "sku=ignore")
    status, out, _ = run("check", products, "--recipe", "Products", *said, "--json")
    facts = json.loads(out)
    assert (status, facts["template"], facts["roles"]["sku"]) == (0, "{body}", "ignore")
    assert facts["split"] == {"tokens": 400, "overlap": 0}
    products.write_text("body,title,sku\na,b,c\n")
    assert run("check", products, "--recipe", "Products", "--separator", ",", "--embed")[0] == 0


def test_a_recipe_leaves_hidden_rows_out_unless_the_command_line_sends_them(
    run: Run, paths: Paths, tmp_path: Path
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
        status, out, _ = run("check", path, *arguments, "--json")
        assert (status, json.loads(out)["texts"]) == (0, texts), arguments


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
    run: Run, codes: Codes, products: Path, arguments: tuple[str, ...], code: str
) -> None:
    products.with_name("other.csv").write_text("title;text\na;b\n")
    assert run("check", products.with_name(arguments[0]), *arguments[1:])[0] == 2
    assert code in codes()


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch) -> None:
    """An account whose service answers no request, so that a command refused with OverBudget cannot have sent one."""
    for name, text in connected("http://127.0.0.1:9/client/v4").items():
        monkeypatch.setenv(name, text)


@pytest.mark.usefixtures("account")
def test_run_refuses_what_may_cost_more(run: Run, codes: Codes, products: Path, paths: Paths) -> None:
    status, out, _ = run("run", products, "--embed", "--connection", "cloudflare", "--budget", "0")
    assert (status, out) == (5, "") and "job_may_cost_amount_your_budget" in codes()
    assert Ledger.open_read_only(paths).jobs() == ()


@pytest.mark.usefixtures("account")
def test_run_keeps_to_the_budget_of_the_window_unless_it_has_its_own(run: Run, products: Path, paths: Paths) -> None:
    Settings(budget=Budget(a_job=0.001, unit="neurons")).save(paths.settings)
    status, _, err = run("run", products, "--embed", "--connection", "cloudflare")
    assert status == 5 and "0.001" in err
    assert run("run", products, "--embed", "--connection", "practice")[0] == 0
