"""A short form of the part of `make prove` that damages results, and that a program that mends wrongly is seen."""

import random
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest

from tests.prove.compare import Finding
from tests.prove.damages import FORMS, Made, make
from tests.prove.mending import damage_and_lose_answer, damage_once, keeping_what_is_lost, mending_nothing
from tests.thorough import tries

DAMAGES = tries(12, 250)


def found(
    path: Path,
    form: str,
    count: int,
    damage: Callable[[Made, random.Random], list[Finding]] = damage_once,
    program: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> list[Finding]:
    rng = random.Random(form)
    job = make(path / "job", form, rng)
    everything: list[Finding] = []
    with program():
        for number in range(count):
            everything += damage(job.copied(path / f"copy {number}"), rng)
    return everything


@pytest.mark.thorough
@pytest.mark.parametrize("form", FORMS)
def test_damaged_results_are_mended_or_named(tmp_path: Path, form: str) -> None:
    assert found(tmp_path, form, DAMAGES) == []


@pytest.mark.parametrize(
    ("program", "damage"), [(mending_nothing, damage_once), (keeping_what_is_lost, damage_and_lose_answer)]
)
def test_a_program_that_does_not_mend_is_caught(
    tmp_path: Path,
    program: Callable[[], AbstractContextManager[None]],
    damage: Callable[[Made, random.Random], list[Finding]],
) -> None:
    assert found(tmp_path, "vectors", 4, damage, program)
