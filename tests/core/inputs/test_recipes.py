"""Recipes: column roles that are saved and used again."""

from dataclasses import replace
from pathlib import Path

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.inputs.input_values import FileFormat, Kind, Layout, Mapping, ReadOptions, Role, Split
from cfbatch_gui.core.inputs.layouts import check_mapping
from cfbatch_gui.core.inputs.recipes import Recipe, as_setting, fitted, recipe_named, recipes_in
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.system.settings import Settings
from tests.support.sentences import code_of, refuses

COLUMNS = ("sku", "Title", "body")
JOINED = Mapping(
    Kind.EMBED, Layout.TEXTS, (Role.ID, Role.KEEP, Role.TEXT), template="{Title}. {body}", split=Split(400, 40)
)
RECIPE = Recipe("Products", COLUMNS, JOINED, ReadOptions(separator=";", sheet="May", unit=FileFormat.PARAGRAPHS))


def test_what_is_kept_is_there_at_the_next_start(tmp_path: Path) -> None:
    Settings(recipes=as_setting([RECIPE, replace(RECIPE, name="Other"), replace(RECIPE, name="PRODUCTS")])).save(
        tmp_path / "settings.json"
    )
    settings = Settings.load(tmp_path / "settings.json")
    assert recipes_in(settings) == (replace(RECIPE, name="Other"), replace(RECIPE, name="PRODUCTS"))
    assert recipe_named(settings, " products ").mapping == JOINED
    with refuses(UsageError, "there_is_no_recipe_name_there", name="Goods", known="“Other”, “PRODUCTS”"):
        recipe_named(settings, "Goods")
    for changed in ({"name": 3}, {"columns": COLUMNS[:2]}):  # by hand
        with refuses(UsageError, "there_is_no_recipe_name_none", name="Products"):
            recipe_named(Settings(recipes=({**settings.recipes[0], **changed},)), "Products")


def test_a_recipe_for_two_files_asks_for_the_second(tmp_path: Path) -> None:
    queries, texts = tmp_path / "queries.csv", tmp_path / "texts.csv"
    queries.write_text("id,question\n1,why?\n")
    texts.write_text("id,answer\n1,because\n")
    shared = Mapping(Kind.RANK, Layout.SHARED, (Role.ID, Role.QUERY), (Role.ID, Role.CONTEXT))
    recipe = Recipe("FAQ", ("id", "question"), shared, second_columns=("id", "answer"))
    alone = fitted(recipe, ("id", "question"))
    assert isinstance(alone, Mapping)
    assert code_of(check_mapping(alone, open_source(queries))) == "add_second_file_holds_contexts_all"
    both = fitted(recipe, ("question", "id"), ("answer", "id"))
    assert isinstance(both, Mapping)
    assert both.second_roles == (Role.CONTEXT, Role.ID)
    assert code_of(fitted(recipe, ("id", "question"), ("id", "text"))) == "second_file_sentence"
