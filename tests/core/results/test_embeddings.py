"""Texts with their vectors, and the vector checks."""

import math
from pathlib import Path

import numpy as np
import pytest

from cfbatch_gui.core.errors import DataError
from cfbatch_gui.core.results.embeddings import Embeddings
from cfbatch_gui.core.results.outcomes import OutcomeCounts, Status
from tests.core.results.folders import FAILED, LEFT_OUT, WAITING, Outcome, Table, unit_vectors


@pytest.fixture
def partial(tmp_path: Path) -> Table:
    texts = ["first", "zweite", "третий", "四", "last"]
    outcomes: list[Outcome] = [1.0, FAILED, WAITING, LEFT_OUT, 1.0]
    return Table(tmp_path / "job", kept=("note",)).embed(
        list(zip("abcde", texts, outcomes, strict=True)),
        unit_vectors(5, 8),
        kept=[(f"note {number}",) for number in range(5)],
    )


def test_texts_and_vectors_belong_together(partial: Table) -> None:
    embeddings = Embeddings(partial.folder)
    page = embeddings.page(0, 10)
    assert [text.text for text in page] == ["first", "zweite", "третий", "四", "last"]
    assert [text.status for text in page] == [
        Status.DONE, Status.FAILED, Status.WAITING, Status.LEFT_OUT, Status.DONE,
    ]  # fmt: skip
    assert page[1].error == "The service could not do this one."
    assert page[3].error == "The text is longer than the model reads."
    assert embeddings.columns() == ("text", "note")
    assert page[4].cells == ("last", "note 4")
    assert (page[4].id, page[4].item_no, page[4].row) == ("e", 5, 6)
    assert embeddings.page(1, 3) == page[1:3]
    assert (embeddings.count, embeddings.dimension) == (5, 8)
    last = embeddings.vector(5)
    assert last is not None
    assert np.array_equal(last, unit_vectors(5, 8)[4])
    assert embeddings.vector(2) is None
    assert embeddings.vector(99) is None
    assert embeddings.present().tolist() == [True, False, False, False, True]
    assert embeddings.outcome_counts() == OutcomeCounts(done=2, failed=1, waiting=1, left_out=1, skipped=0)


def test_nothing_back_yet(tmp_path: Path) -> None:
    table = Table(tmp_path).embed([("", "one", WAITING)], None)
    table.folder.vectors.write_bytes(b"half a he")  # as for a moment while the first answer is being stored
    embeddings = Embeddings(table.folder)
    assert embeddings.dimension == 0
    assert embeddings.rows(0, 1).shape == (1, 0)
    checks = embeddings.checks()
    assert (checks.texts, checks.missing, checks.unit_length, checks.repeated) == (1, 1, False, 0)
    assert math.isnan(checks.norm_min)


def test_damaged_vectors_are_said(tmp_path: Path) -> None:
    table = Table(tmp_path).embed([("", "one", 1.0)], unit_vectors(3, 4))
    with pytest.raises(DataError, match="damaged"):
        Embeddings(table.folder).rows(0, 1)
    table.folder.vectors.write_bytes(b"no numbers")
    with pytest.raises(DataError, match="damaged"):
        Embeddings(table.folder).rows(0, 1)


def test_health_finds_what_is_wrong(tmp_path: Path) -> None:
    vectors = unit_vectors(7, 16)
    vectors[1] = vectors[0]
    vectors[2] = vectors[0]
    vectors[3] = 0
    vectors[4, 5] = np.nan
    vectors[5, 5] = np.inf
    outcomes: list[Outcome] = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, WAITING]
    table = Table(tmp_path).embed([("", "text", outcome) for outcome in outcomes], vectors)
    checks = Embeddings(table.folder).checks()
    assert (checks.repeated, checks.zero, checks.non_finite, checks.missing) == (2, 1, 2, 1)
    assert not checks.unit_length
    assert checks.norm_min == 0
