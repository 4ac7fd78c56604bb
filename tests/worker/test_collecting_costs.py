"""What collecting takes is what docs/collecting.md says it takes.

`make test ARGS="tests/worker/test_collecting_costs.py --write-docs"` writes the page's table anew.
"""

import math
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks import collecting_costs
from benchmarks.collecting_costs import (
    FREE,
    PAID,
    batches_within,
    costs,
    most_steps_of_instance,
    of_instance,
    of_program,
    table,
)
from tests.worker.collecting_room import CountedRoom, Shard, counted_room, instance_of
from tests.worker.runtime import ROOT, WORKER

PAGE = ROOT / "docs" / "collecting.md"
BEGIN, END = "<!-- computed -->\n", "<!-- end -->\n"
SHARDS = (
    Shard(59, 5_000, 2, announced=False),
    Shard(25, 5_000, 0, announced=True),
    Shard(1, 100, 1, announced=True),
    Shard(10, 100, 0, announced=False),
    Shard(3, 9_000_000, 0, announced=False),
    Shard(2, 20_000_000, 1, announced=False),
)


@pytest.fixture
def counted(tmp_path: Path) -> Iterator[CountedRoom]:
    with counted_room(tmp_path) as room:
        yield room


def test_a_hundred_batches_take_what_is_computed(counted: CountedRoom) -> None:
    assert sum(shard.batches for shard in SHARDS) == 100
    for shard in SHARDS:
        _, before = counted.counts()
        path = counted.hand_over_shard(shard)
        counted.until_over(path)
        counted.fetch_all(path, shard)
        instances, after = counted.counts()
        computed = of_instance(shard.batches, shard.size, shard.empty_rounds, announced=shard.announced)
        assert instances[instance_of(path)] == computed
        program = of_program(shard.batches)
        taken = after.class_a - before.class_a, after.class_b - before.class_b
        assert taken == (program.class_a, program.class_b)
        assert (program.steps, after.steps, after.asks) == (0, 0, 0)


def test_the_page_has_the_table_as_computed(request: pytest.FixtureRequest) -> None:
    text = PAGE.read_text("utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    written = before + BEGIN + table() + END + after
    if request.config.getoption("--write-docs"):
        PAGE.write_text(written, "utf-8")
    assert PAGE.read_text("utf-8") == written


def test_the_page_has_the_other_figures_as_computed() -> None:
    text = PAGE.read_text("utf-8")
    soon, late = (batches_within(FREE, seconds) for seconds in (600.0, 86_400.0))
    assert f"{soon:,} batches that are done after 10 minutes, or {late:,} that take 24 hours" in text
    free, paid = most_steps_of_instance(FREE), most_steps_of_instance(PAID)
    assert f"{free} of 1,024 on Free with 25 batches, {paid} of 10,000 on Paid with 100" in text
    week = costs(PAID, 600.0, "")
    assert f"{week.gigabytes:.0f} GB for a week are {week.gigabytes * 7 / 30:.0f} GB-months" in text
    assert f"${week.storage_dollars:.2f}" in text


def test_the_computation_has_the_workers_own_numbers() -> None:
    rounds = (WORKER / "src" / "rounds.js").read_text("utf-8")
    storing = (WORKER / "src" / "storing.js").read_text("utf-8")
    for name, text in {
        "GIVEN_UP_AFTER": rounds,
        "GROWTH": rounds,
        "STORED_PER_STEP": rounds,
        "COPIED_PER_STEP": rounds,
        "PART_BYTES": storing,
        "PEEK_BYTES": storing,
    }.items():
        found = re.search(rf"^const {name} = ([\d.* ]+);", text, re.MULTILINE)
        assert found is not None, name
        assert math.prod(map(float, found[1].split("*"))) == getattr(collecting_costs, name), name


def test_what_is_collected_stays_within_the_limits_of_both_plans() -> None:
    for plan in (FREE, PAID):
        assert most_steps_of_instance(plan) <= plan.steps_of_instance
        for seconds, duration in collecting_costs.DURATIONS:
            assert costs(plan, seconds, duration).instance.most_in_a_step <= plan.subrequests
