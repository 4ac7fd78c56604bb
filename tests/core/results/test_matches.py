"""The matches of a job of two lists, from its files on: what is sent, what a row gets, and what a person decided."""

from contextlib import closing
from pathlib import Path
from typing import Any

from cfbatch_gui.core.jobs.states import Job, MatchOptions
from cfbatch_gui.core.judgements.book import Shelf
from cfbatch_gui.core.judgements.decisions import Decisions
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.results.matches import Decision, MatchState, read_matches
from tests.support.lists import two_lists

A = """id,name,size,country
1,Stock pot steel,8 l,at
2,Frying pan,28 cm,at
3,,,de
4,TEA KETTLE,,de
5,Zebra crossing,,de
"""
B = """sku;title;country
x1;Frying pan, 28 cm;at
x2;tea kettle;de
x3;Stock pot steel, 8.5 l;at
x4;tea kettle;at
"""


async def matched(program: Program, folder: Path, **options: Any) -> Job:
    return await two_lists(program, folder, A, B, texts=[2], **options)


async def test_each_text_is_sent_once_and_each_row_of_a_has_what_it_gets(program: Program, tmp_path: Path) -> None:
    job = await matched(program, tmp_path)
    assert (job.rows_in, job.texts, job.problems) == (5, 8, 1)
    assert sum(batch.texts for batch in job.batches) == 6  # "tea kettle" twice, and a pan in both lists
    found = read_matches(program.folder(job.id), job)
    assert [each.text for each in found.rows_a(range(4))] == [
        "Stock pot steel, 8 l", "Frying pan, 28 cm", "TEA KETTLE", "Zebra crossing",
    ]  # fmt: skip
    assert found.rows_a([2])[0].cells == ("4", "TEA KETTLE", "", "de")
    assert found.first.tolist()[:3] == [2, 0, 1]
    assert [found.states[row] for row in (1, 2)] == [MatchState.SAME] * 2
    assert found.scores[2] == 1.0
    assert found.differs.tolist() == [True, False, False, False]
    assert found.with_threshold(0.99).states[3] == MatchState.WITHOUT
    assert sum(found.counts().values()) == 4


async def test_limits_and_each_row_once(program: Program, tmp_path: Path) -> None:
    job = await matched(program, tmp_path, within="country")
    found = read_matches(program.folder(job.id), job)
    assert found.first.tolist() == [2, 0, 1, 1]
    program.drafts.use_for(job.id, matching=MatchOptions(not_within="country"))
    found = read_matches(program.folder(job.id), program.ledger.job(job.id))
    assert found.first.tolist()[2] == 3
    program.drafts.use_for(job.id, matching=MatchOptions(each_once=True))
    found = read_matches(program.folder(job.id), program.ledger.job(job.id))
    given = found.first[found.first >= 0].tolist()
    assert len(given) == len(set(given))
    assert program.ledger.job(job.id).batches == job.batches  # nothing was sent again


async def test_decisions_belong_to_texts(program: Program, tmp_path: Path) -> None:
    job = await matched(program, tmp_path)
    folder = program.folder(job.id)
    with closing(Shelf(tmp_path / "judgements.db")) as shelf:
        decisions = Decisions(shelf, clock=lambda: 0.0)
        assert decisions.decide("Zebra crossing", Decision("tea kettle", accepted=True)) is None
        best = read_matches(folder, job, decisions.find)
        first = best.rows_b([int(best.first[0])])[0].text
        decisions.decide("Stock pot steel, 8 l", Decision(first, accepted=False))
    with closing(Shelf(tmp_path / "judgements.db")) as shelf:
        decisions = Decisions(shelf, clock=lambda: 0.0)
        found = read_matches(folder, job, decisions.find)
        assert found.states.tolist()[::3] == [MatchState.NONE, MatchState.ACCEPTED]
        assert found.chosen.tolist()[::3] == [-1, 1]
        before = decisions.decide("zebra crossing ", Decision("another text", accepted=True))
        assert read_matches(folder, job, decisions.find).states[3] == found.with_decision(3, None).states[3]
        decisions.decide("Zebra crossing", before)
        assert read_matches(folder, job, decisions.find).chosen[3] == 1
        decisions.decide("Zebra crossing", None)
        assert decisions.find("Zebra crossing") is None


async def test_each_row_is_given_once_also_where_people_decided(program: Program, tmp_path: Path) -> None:
    b = "title\nred chair\nblue sofa\nred chair\n"
    job = await two_lists(program, tmp_path, "name\n" + "red chair\n" * 4, b, each_once=True)
    said = Decision("red chair", accepted=True)
    found = read_matches(program.folder(job.id), program.ledger.job(job.id), lambda text: said)
    given = found.chosen[found.chosen >= 0].tolist()
    assert {0, 2} <= set(given)
    assert len(given) == len(set(given))
