"""The matching of equal items in two lists, by text and by id."""

from collections.abc import Sequence

import numpy as np

from cfbatch_gui.core.evaluation.joining import Keys, MatchedBy, Matches, match
from cfbatch_gui.core.results.score_table import hashed_id

Thing = tuple[str, str]  # id, text


def keys(things: Sequence[Thing], groups: Sequence[int] | None = None) -> Keys:
    return Keys(
        np.array(groups or [0] * len(things), dtype=np.int64),
        np.array([hashed_id(identifier) for identifier, _ in things], dtype=np.int64),
        np.array([hash(text) for _, text in things], dtype=np.int64),
    )


def pairs(found: Matches) -> list[tuple[int, int]]:
    return list(zip(found.ours.tolist(), found.theirs.tolist(), strict=True))


def test_order_plays_no_part() -> None:
    found = match(keys([("", "a"), ("", "b"), ("", "c")]), keys([("", "c"), ("", "a"), ("", "d")]))
    assert pairs(found) == [(0, 1), (2, 0)]
    assert found.by == {MatchedBy.ID_AND_TEXT: 0, MatchedBy.TEXT: 2, MatchedBy.ID: 0}


def test_another_template_is_matched_by_id() -> None:
    found = match(keys([("1", "Title: lamp"), ("2", "Title: hose")]), keys([("2", "hose"), ("1", "lamp")]))
    assert pairs(found) == [(0, 1), (1, 0)]
    assert found.by[MatchedBy.ID] == 2


def test_the_same_text_goes_before_the_same_id() -> None:
    found = match(keys([("1", "lamp"), ("2", "hose")]), keys([("1", "hose"), ("2", "lamp")]))
    assert pairs(found) == [(0, 1), (1, 0)]


def test_copies_of_a_text_are_told_apart_by_id_and_else_paired_off() -> None:
    found = match(keys([("A", "lamp"), ("B", "lamp"), ("", "lamp")]), keys([("B", "lamp"), ("C", "lamp")]))
    assert pairs(found) == [(0, 1), (1, 0)]


def test_an_id_that_comes_twice_names_nothing() -> None:
    found = match(keys([("1", "lamp"), ("1", "hose")]), keys([("1", "rake")]))
    assert pairs(found) == []


def test_only_things_of_one_group_match() -> None:
    found = match(keys([("", "a"), ("", "a")], [1, 2]), keys([("", "a")], [2]))
    assert pairs(found) == [(1, 0)]


def test_nothing_on_either_side() -> None:
    assert pairs(match(keys([]), keys([("1", "a")]))) == []
    assert pairs(match(keys([("1", "a")]), keys([]))) == []


def test_the_same_list_is_itself_whatever_comes_twice() -> None:
    things = [("1", "lamp"), ("", "hose"), ("1", "lamp"), ("", "hose"), ("2", "lamp")]
    found = match(keys(things), keys(things))
    assert pairs(found) == [(index, index) for index in range(5)]
    assert found.by == match(keys(things), keys([*things, ("9", "rake")])).by
    assert pairs(match(keys(things), keys([*things, ("9", "rake")]))) == pairs(found)


def test_a_shuffled_list_finds_itself() -> None:
    random = np.random.default_rng(2)
    things = [(f"{number % 700}" if number % 3 else "", f"text {number % 400}") for number in range(1_000)]
    order = random.permutation(len(things))
    found = match(keys(things), keys([things[at] for at in order]))
    assert len(found) == len(things)
    assert all(things[ours] == things[order[theirs]] for ours, theirs in pairs(found))
