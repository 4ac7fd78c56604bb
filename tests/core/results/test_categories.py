"""Rows sorted into categories: how lines are read, what is sent, what rows get, and how often that is right."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfbatch_gui.core.jobs.states import Job, Purpose, SortOptions
from cfbatch_gui.core.judgements.review import Review
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.results import categories, matching
from cfbatch_gui.core.results.categories import Category, parse_categories, read_categories, sort_into
from cfbatch_gui.core.results.matches import Decision, Matches, MatchState
from tests.support.lists import two_lists

A = """id,letter,kind
1,my parcel is late,Delivery
2,the parcel is still not here,Delivery
3,the teapot is broken,Damage
4,,Damage
5,delivery ,Damage
6,the lid of the pot is broken,something else
7,my parcel is late,
"""
B = "kind,what\nDelivery,the parcel is late\nDamage,the pot is broken\nDELIVERY,the parcel is not here\n"


async def sorted_job(program: Program, folder: Path, a: str = A, b: str = B, **options: Any) -> Job:
    job = await two_lists(program, folder, a, b, **options)
    return program.drafts.use_for(job.id, purpose=Purpose.CATEGORIES)


def read(program: Program, job: Job) -> Matches:
    return read_categories(program.folder(job.id), program.ledger.job(job.id), program.decisions_of(job).find)


def given_names(matches: Matches) -> list[str]:
    return ["" if other < 0 else matches.rows_b([other])[0].text for other in matches.chosen.tolist()]


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (["Price", "", "  "], [("Price", "Price")]),
        (["Price: too dear"], [("Price", "Price: too dear")]),
        (["Price: too dear | a bargain"], [("Price", "Price: too dear", "Price: a bargain")]),
        (["Price\ttoo dear\ta bargain\t"], [("Price", "Price: too dear", "Price: a bargain")]),
        (["Price: too dear", " PRICE :\u00a0a  bargain"], [("Price", "Price: too dear", "PRICE : a bargain")]),
        (["https://e.example/a", "open at 10:30"], [("https://e.example/a",) * 2, ("open at 10:30",) * 2]),
        (["価格：高い"], [("価格", "価格：高い")]),
        (["Price:"], [("Price", "Price")]),
        (["x" * 70, "x" * 71], [("x" * 59 + "…", "x" * 70), ("x" * 71, "x" * 71)]),
        (["y" * 70 + ": z"], [("y" * 59 + "…", "y" * 70 + ": z")]),
    ],
)
def test_a_line_is_a_category_with_its_examples(lines: list[str], found: list[tuple[str, ...]]) -> None:
    assert [(each.name, *each.sentences) for each in parse_categories(lines)] == found


@given(st.lists(st.text(st.sampled_from("ab :|\t：1."), max_size=9)))
def test_what_is_sent_is_read_as_the_same_categories(lines: list[str]) -> None:
    found = parse_categories(lines)
    assert all(each.name.strip() and each.sentences for each in found)
    assert len({each.name.casefold() for each in found}) == len(found)


async def test_rows_get_the_nearest_category_or_none(program: Program, tmp_path: Path) -> None:
    job = await sorted_job(program, tmp_path)
    found = read(program, job)
    assert found.categories is not None
    assert [each.name for each in found.categories] == ["Delivery", "Damage"]
    assert len(found.categories[0].sentences) == 2  # rows of the same name are averaged
    assert given_names(found.with_threshold(-1.0)) == ["Delivery"] * 2 + ["Damage", "Delivery", "Damage", "Delivery"]
    assert found.states[3] == MatchState.SAME and found.scores[3] == 1.0
    assert given_names(found.with_threshold(1.0)) == [""] * 3 + ["Delivery"] + [""] * 2
    assert sum(found.counts().values()) == len(found.items_a) == 6
    assert not found.differs.any()


async def test_a_new_category_sends_that_category_only(program: Program, tmp_path: Path) -> None:
    job = await sorted_job(program, tmp_path)
    folder, sent = program.folder(job.id), job.batches
    lines = categories.lines_of(folder, job)
    assert parse_categories(lines) == read(program, job).categories
    assert categories.unknown_sentences(folder, job, lines) == ()
    before, client = read(program, job), program.address_book.client
    new = (*lines, "Invoice: a card was charged twice | the bill is wrong")
    unknown = ("Invoice: a card was charged twice", "Invoice: the bill is wrong")
    assert categories.unknown_sentences(folder, job, new) == unknown
    job = await sort_into(client, program.drafts, job, new, now=1.0)
    assert categories.lines_of(folder, program.ledger.job(job.id)) == new
    assert categories.unknown_sentences(folder, job, new) == ()
    after = read(program, job)
    assert after.categories is not None and after.categories[-1] == Category("Invoice", unknown)
    assert [dict(after.options(0))[other] for other in (0, 1)] == [dict(before.options(0))[other] for other in (0, 1)]
    assert job.batches == sent
    job = await sort_into(client, program.drafts, job, new[1:2], now=2.0)  # nothing is sent to remove one
    assert set(given_names(read(program, job).with_threshold(-1.0))) == {"Damage"}


async def test_decisions_are_kept_by_text_and_name_apart_from_those_about_matches(
    program: Program, tmp_path: Path
) -> None:
    job = await two_lists(program, tmp_path, A, B, threshold=-1.0)
    of_matches = program.decisions_of(job)
    job = program.drafts.use_for(job.id, purpose=Purpose.CATEGORIES)
    said = program.decisions_of(job)
    said.decide("My parcel is late", Decision("Damage", accepted=True))
    said.decide("the teapot is broken", Decision("Damage", accepted=False))
    of_matches.decide("the parcel is still not here", Decision("Damage", accepted=True))
    found = read(program, job)
    assert given_names(found) == ["Damage", "Delivery", "", "Delivery", "Damage", "Damage"]
    assert given_names(found.with_decisions(of_matches.find))[1] == "Damage"
    review = Review(found, said, clock=lambda: 0.0, rows=[0, 1, 4])
    assert (review.done, review.total) == (0, 2)
    assert review.asked is not None and review.asked.index == 1
    review.decide(1)
    assert said.find("the parcel is still not here") == Decision("Damage", accepted=True)
    assert read(program, job).chosen.tolist() == review.matches.chosen.tolist()
    job = await sort_into(program.address_book.client, program.drafts, job, ["Delivery", "Broken"], now=1.0)
    assert set(given_names(read(program, job))) == {"Delivery", "Broken"}  # what is no longer there decides nothing


async def test_agreement_with_a_column_is_that_of_the_scores(program: Program, tmp_path: Path) -> None:
    job = await sorted_job(program, tmp_path, threshold=-1.0)
    program.decisions_of(job).decide("my parcel is late", Decision("Damage", accepted=True))
    found = read(program, job)
    assert categories.proposed_column(found) == "kind"
    measured = categories.agreement(found, categories.right_names(found, "KIND"))
    assert (measured.checked, measured.right, measured.wrong) == (5, 3, (3, 4))
    assert measured.confusions == (("", "Damage", 1), ("Damage", "Delivery", 1))
    assert 0 < measured.low < measured.share < measured.high < 1
    by_key = categories.agreement_of_checks(found)
    assert (by_key.checked, by_key.right, by_key.confusions) == (2, 0, (("Damage", "Delivery", 2),))
    assert set(categories.checks(found, 3).tolist()) < set(categories.checks(found).tolist()) == set(range(6))
    assert categories.proposed_column(read_categories(program.folder(job.id), with_lines(job, "Other"))) == ""


def with_lines(job: Job, *lines: str) -> Job:
    return replace(job, options=replace(job.options, sorting=SortOptions(lines)))


async def test_any_job_of_texts_can_be_sorted_and_categories_without_a_vector_get_nothing(
    program: Program, tmp_path: Path
) -> None:
    job = with_lines(await sorted_job(program, tmp_path, threshold=-1.0), "Delivery", "Never asked")
    found = read_categories(program.folder(job.id), job)
    assert set(given_names(found)) == {"", "Delivery"}  # the row with this text
    assert read_categories(program.folder(job.id), with_lines(job)).chosen.tolist() == [-1] * 6


def test_the_interval_of_a_check_of_40_rows_holds_the_truth() -> None:
    draw = np.random.default_rng(7)
    shares = draw.uniform(0.5, 0.97, 2_000)
    ends = np.array([categories.wilson(int(right), 40) for right in draw.binomial(40, shares)])
    assert 0.93 <= np.mean((ends[:, 0] <= shares) & (shares <= ends[:, 1])) <= 0.97
    assert categories.wilson(0, 0) == (0.0, 1.0)
    assert categories.wilson(40, 40)[1] == pytest.approx(1.0)


def test_a_short_list_is_compared_as_a_long_one() -> None:
    draw = np.random.default_rng(3)
    vectors = draw.integers(-2, 3, (3_000, 4)).astype(np.float32)  # many equal scores, and some without a direction
    lengths = np.linalg.norm(vectors, axis=1)
    scales = np.divide(1, lengths, out=np.zeros(len(lengths)), where=lengths > 0)
    a = matching.Side(vectors, scales, np.arange(3_000) % 400)
    b = a.take(np.arange(0, 3_000, 300))
    few, many = matching.compare_all(a, b, 7), matching.find_candidates(a, b, 7)
    for name in ("rows", "scores", "same", "best_of"):
        np.testing.assert_array_equal(getattr(few, name), getattr(many, name))


async def test_a_text_that_is_all_that_is_said_of_a_category_is_like_it(program: Program, tmp_path: Path) -> None:
    job = with_lines(await sorted_job(program, tmp_path), "Late\tmy parcel is late", "the teapot is broken")
    assert categories.unknown_sentences(program.folder(job.id), job, ["the teapot is broken"]) == ()
    found = read_categories(program.folder(job.id), job)
    assert dict(found.options(2))[1] == 1.0
