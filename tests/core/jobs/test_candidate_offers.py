"""What each choice of candidates comes to, against the plan of a job that was made with it."""

from pathlib import Path

import pytest

from cfbatch_gui.core.inputs.file_rows import preview
from cfbatch_gui.core.inputs.input_values import CandidatePool, CandidateRule, Kind, ReadOptions
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.inputs.suggest import suggest_mapping
from cfbatch_gui.core.job_folder.filling import fill
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.plan.preflight import CandidateOffer, Preflight, candidate_offers, examine
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.workers_ai.catalogue import DEFAULT_MODEL, find_model
from tests.core.inputs.collections import GRADED, POSITIVES, Labels, data_set

MODEL = find_model(DEFAULT_MODEL)


def offered(folder: Path, kind: Kind = Kind.RANK) -> tuple[CandidateOffer, ...]:
    return candidate_offers(open_source(folder), kind, MODEL)


def planned(folder: Path, path: Path, rule: CandidateRule, kind: Kind = Kind.RANK) -> Preflight:
    source = open_source(folder, ReadOptions(candidates=rule))
    job_folder = JobFolder(path)
    fill(job_folder, source, suggest_mapping(source, kind, preview(source)))
    return examine(job_folder, Job("job", "job", kind, MODEL.name, "", 0.0), MODEL)


@pytest.mark.parametrize("kind", list(Kind))
@pytest.mark.parametrize("labels", [POSITIVES, GRADED])
def test_the_offers_are_close_to_the_plans(tmp_path: Path, labels: Labels, kind: Kind) -> None:
    folder = data_set(tmp_path / "set", labels, texts=[f"text {'word ' * (n % 40)}{n}" for n in range(300)])
    offers = offered(folder, kind)
    assert [each.rule.pool for each in offers] == list(CandidatePool)
    for offer in offers:
        plan = planned(folder, tmp_path / offer.rule.pool, offer.rule, kind)
        assert (offer.queries, offer.pairs) == (plan.queries, plan.texts)
        assert offer.tokens_high == pytest.approx(plan.tokens_high, rel=0.2)
        assert offer.tokens_low == pytest.approx(plan.tokens_low, rel=0.2)
        assert offer.price_high.dollars == pytest.approx(plan.price_high.dollars, rel=0.2)


def test_it_is_said_where_nothing_can_be_measured(tmp_path: Path) -> None:
    positives = offered(data_set(tmp_path / "positives"))
    assert [each.measures_nothing for each in positives] == [True, False, False]
    graded = offered(data_set(tmp_path / "graded", GRADED))
    assert [each.measures_nothing for each in graded] == [False, False, False]
    alone = offered(data_set(tmp_path / "alone", {"q1": {"d000": 1, "d001": 1}}, texts=["a", "b"]))
    assert [each.measures_nothing for each in alone] == [True, True, True]
    irrelevant = offered(data_set(tmp_path / "irrelevant", {"q1": {"d000": 0}}))
    assert [each.measures_nothing for each in irrelevant] == [True, True, True]


def test_nothing_is_offered_where_a_run_names_the_candidates(tmp_path: Path) -> None:
    folder = data_set(tmp_path / "set")
    (folder / "bm25.run").write_text("q1 Q0 d003 1 2.5 tag\n")
    assert offered(folder) == ()
