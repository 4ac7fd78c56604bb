"""Recipes: column roles that are saved and used again."""

import logging
from dataclasses import replace
from pathlib import Path

import pytest

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.inputs.input_values import FileFormat, Kind, Layout, Mapping, ReadOptions, Role, Split
from cfbatch_gui.core.inputs.layouts import check_mapping
from cfbatch_gui.core.inputs.recipes import FileKind, Recipe, RecipeBook, fitted
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from tests.support.sentences import code_of, refuses

COLUMNS = ("sku", "Title", "body")
JOINED = Mapping(
    Kind.EMBED, Layout.TEXTS, (Role.ID, Role.KEEP, Role.TEXT), template="{Title}. {body}", split=Split(400, 40)
)
RECIPE = Recipe("Products", COLUMNS, JOINED, ReadOptions(separator=";", sheet="May", unit=FileFormat.PARAGRAPHS))
KIND = FileKind(FileFormat.DELIMITED, COLUMNS)


def test_what_is_kept_is_there_at_the_next_start(tmp_path: Path) -> None:
    book = RecipeBook(tmp_path / "recipes.json")
    book.save(RECIPE)
    book.remember(KIND, None, RECIPE)
    again = RecipeBook(tmp_path / "recipes.json")
    assert again.recipes() == (RECIPE,)
    assert again.recipe(" products ") == RECIPE
    assert again.remembered(KIND) == replace(RECIPE, name="")
    assert again.remembered(KIND, KIND) is None
    assert again.remembered(FileKind("workbook", COLUMNS)) is None


def test_recipes_are_renamed_and_deleted(tmp_path: Path) -> None:
    book = RecipeBook(tmp_path / "recipes.json")
    book.save(RECIPE)
    book.save(replace(RECIPE, name="Other"))
    with refuses(UsageError, "there_is_recipe_new_already_choose", new="other"):
        book.rename("Products", "other")
    book.rename("Products", "PRODUCTS")
    book.rename("products", " Goods ")
    assert [each.name for each in book.recipes()] == ["Goods", "Other"]
    assert book.delete("goods").name == "Goods"
    assert [each.name for each in RecipeBook(tmp_path / "recipes.json").recipes()] == ["Other"]
    with refuses(UsageError, "there_is_no_recipe_name_there", name="Goods", known="“Other”"):
        book.recipe("Goods")
    with refuses(UsageError, "recipe_needs_name"):
        book.save(replace(RECIPE, name="  "))


@pytest.mark.parametrize("content", [b"", b"[]", b"\xff", b'{"version": 9}', b'{"recipes": [{"name": 3}]}'])
def test_a_broken_book_is_empty_and_said_in_the_log(
    tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "recipes.json"
    path.write_bytes(content)
    with caplog.at_level(logging.WARNING):
        assert RecipeBook(path).recipes() == ()
    assert "recipes.json" in caplog.text


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
