"""Labels that are words, stars and shares: what is proposed, and what a choice changes."""

from pathlib import Path

import pytest

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.evaluation.joining import read_run
from cfbatch_gui.core.evaluation.judged import measure
from cfbatch_gui.core.results.labels import keep_grades, parse_grades, propose_grades
from tests.core.evaluation.generated import exported
from tests.core.results.folders import Pair, Table


@pytest.mark.parametrize(
    ("labels", "grades"),
    [
        ({"Yes": 1, "no": 0}, True),
        ({"ja": 1, "Nein": 0}, True),
        ({"no": 0, "partly": 1, "Yes!": 2}, True),
        ({"irrelevant": 0, "partially relevant": 1, "relevant": 2}, True),
        ({"Exact": 3, "Substitute": 2, "Complement": 1, "Irrelevant": 0}, True),
        ({"★★★☆☆": 3, "★☆☆☆☆": 1}, True),
        ({"3 stars": 3, "1 star": 1}, True),
        ({"4/5": 4, "2 / 5": 2}, True),
        ({"0.5": 1, "1": 2, "0": 0}, True),
        ({"0,25": 1, "0.75": 3, "1.0": 4}, True),
        ({"yes": 1, "purple": 0}, False),
        ({"see note 4": 1}, False),
    ],
)
def test_usual_ways_of_labelling_are_recognised(labels: dict[str, int], grades: bool) -> None:
    assert propose_grades(list(labels)) == (labels if grades else None)


def test_a_choice_is_written_as_words_and_numbers() -> None:
    assert parse_grades("yes=1, so so = 0,a=b=2,no=-1") == {"yes": 1, "so so": 0, "a=b": 2, "no": -1}
    for wrong in ("yes", "yes=", "=1", "yes=one", "yes=1.5", ""):
        with pytest.raises(UsageError, match="like yes=1,no=0"):
            parse_grades(wrong)


def test_a_choice_changes_measures_and_exported_qrels_alike(tmp_path: Path) -> None:
    labels = ("no", "yes ", "Perhaps", "1", "")
    pairs = [Pair("q", f"text {at}", 0.9 - at / 10, label=label) for at, label in enumerate(labels)]
    table = Table(tmp_path / "job").rank(pairs)
    run = read_run(table.folder, table.metadata())
    assert run.unusable is not None
    assert (run.unusable.count, run.unusable.proposal) == (3, ())
    keep_grades(table.folder, {"no": 0, "yes": 2, "Perhaps": 1})
    run = read_run(table.folder, table.metadata())
    assert run.unusable is None
    found = measure(run)
    assert found is not None
    assert (found.judged, found.relevant) == (4, 3)
    _, qrels = exported(table, tmp_path)
    assert sorted(qrels["q1"].values()) == [0, 1, 1, 2]
    keep_grades(table.folder, {})
    assert read_run(table.folder, table.metadata()).unusable is not None
