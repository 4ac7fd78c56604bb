"""What collecting in the account takes: steps, questions and operations of the bucket, from the code of the Worker.

tests/worker/test_collecting_costs.py counts them in Cloudflare's runtime and fails when they differ from what is
computed here, and holds the table of docs/collecting.md against `tables`.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

# As in resources/worker/src.
PART_BYTES: Final = 8 * 1024 * 1024
PEEK_BYTES: Final = 4096
STORED_PER_STEP: Final = 4
COPIED_PER_STEP: Final = 16 * 1024 * 1024
GROWTH: Final = 1.3
GIVEN_UP_AFTER: Final = 8 * 24 * 60 * 60.0

# Assumed, not measured: how long a question and a megabyte into the bucket take at Cloudflare.
ASK_SECONDS: Final = 0.25
STORE_SECONDS: Final = 0.05  # for each MB

BATCHES: Final = 5_000
ANSWER_BYTES: Final = 20_000_000
FIRST_WAIT: Final = 5.0  # seconds
LONGEST_WAIT: Final = 900.0
DURATIONS: Final = ((600.0, "10 minutes"), (7_200.0, "2 hours"), (86_400.0, "24 hours"))

# November 2026; the sources stand in docs/collecting.md. Dollars for one.
STEP_DOLLARS: Final = 0.80 / 100_000
CLASS_A_DOLLARS: Final = 4.50 / 1_000_000
CLASS_B_DOLLARS: Final = 0.36 / 1_000_000
REQUEST_DOLLARS: Final = 0.30 / 1_000_000
GIGABYTE_MONTH_DOLLARS: Final = 0.015


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan of Workers with its limits. `steps_of_instance` leaves out sleeping, as the limit does."""

    name: str
    shard: int
    steps_of_instance: int
    steps: int
    period: str
    subrequests: int


FREE: Final = Plan("Free", 25, 1_024, 3_000, "day", 1_000)
PAID: Final = Plan("Paid", 100, 10_000, 500_000, "month", 10_000)


@dataclass(frozen=True, slots=True)
class Taken:
    """What one instance takes from its first step to its last, or several instances together."""

    steps: int
    asks: int
    class_a: int
    class_b: int
    most_in_a_step: int


@dataclass(frozen=True, slots=True)
class Operations:
    """What storing one answer takes."""

    class_a: int
    class_b: int
    copied: int


def to_store(size: int, *, announced: bool) -> Operations:
    """An answer of that many bytes, with its length announced or in chunks."""
    if announced and size > PEEK_BYTES:
        return Operations(1, 1, 0)
    if size < PART_BYTES:
        return Operations(1, 0, size)
    return Operations(2 + math.ceil(size / PART_BYTES), 0, size)


def of_instance(batches: int, size: int, empty_rounds: int, *, announced: bool) -> Taken:
    """A shard whose batches are all done at once, after some rounds in which all of them waited."""
    storing = to_store(size, announced=announced)
    by_bytes = COPIED_PER_STEP // storing.copied + 1 if storing.copied else STORED_PER_STEP
    stored_per_step = min(STORED_PER_STEP, by_bytes, batches)
    return Taken(
        steps=2 + empty_rounds + math.ceil(batches / stored_per_step),  # 2: reading the order, writing the end
        asks=batches * (empty_rounds + 1),
        class_a=batches * storing.class_a + 1,
        class_b=batches * storing.class_b + 1,
        most_in_a_step=max(batches if empty_rounds else 1, stored_per_step * (1 + storing.class_a + storing.class_b)),
    )


def of_program(batches: int) -> Taken:
    """What the Worker takes for the program: hand-over, one look at the end, fetching, removing one shard."""
    return Taken(steps=0, asks=0, class_a=2 + 1 + 1, class_b=1 + 1 + batches, most_in_a_step=0)


def requests_of(batches: int) -> int:
    """Calls of the program for one shard: layout and order, one look, the layout back, the answers, the removal."""
    return 2 + 1 + 1 + batches + 1


def waits(first: float = FIRST_WAIT, longest: float = LONGEST_WAIT) -> Iterator[float]:
    """The seconds between rounds, without end."""
    wait = first
    while True:
        yield wait
        wait = min(wait * GROWTH, longest)


def empty_rounds(seconds: float) -> tuple[int, float]:
    """How many rounds find nothing when batches are done after so many seconds; the seconds at the next one."""
    passed = 0.0
    for number, wait in enumerate(waits(), 1):
        passed += wait
        if passed >= seconds:
            return number, passed
    raise AssertionError("waits have no end")


@dataclass(frozen=True, slots=True)
class Costs:
    """What collecting `BATCHES` batches takes in one plan when all of them are done after the same time.

    `stored_after` is in seconds from the hand-over to the last answer in the bucket. Dollars are at the prices beyond
    what a plan includes. `gigabytes` are stored until they are fetched.
    """

    plan: Plan
    duration: str
    rounds: int
    shards: int
    instance: Taken
    steps: int
    asks: int
    class_a: int
    class_b: int
    requests: int
    stored_after: float
    gigabytes: float

    @property
    def dollars(self) -> float:
        """Without storage, and without the computing time, which is not known. A step costs nothing on Free."""
        steps = self.steps * STEP_DOLLARS if self.plan is PAID else 0.0
        requests = self.requests * REQUEST_DOLLARS if self.plan is PAID else 0.0
        return steps + requests + self.class_a * CLASS_A_DOLLARS + self.class_b * CLASS_B_DOLLARS

    @property
    def storage_dollars(self) -> float:
        """For a week."""
        return self.gigabytes * GIGABYTE_MONTH_DOLLARS * 7 / 30


def costs(plan: Plan, seconds: float, duration: str, *, announced: bool = False) -> Costs:
    """Collecting with shards of the plan's size. Answers in chunks take the most."""
    rounds, found_after = empty_rounds(seconds)
    shards = math.ceil(BATCHES / plan.shard)
    instance = of_instance(plan.shard, ANSWER_BYTES, rounds, announced=announced)
    program = of_program(plan.shard)
    storing = plan.shard * (ASK_SECONDS + ANSWER_BYTES / 1_000_000 * STORE_SECONDS)
    return Costs(
        plan,
        duration,
        rounds,
        shards,
        instance,
        steps=shards * instance.steps,
        asks=shards * instance.asks,
        class_a=shards * (instance.class_a + program.class_a),
        class_b=shards * (instance.class_b + program.class_b),
        requests=shards * requests_of(plan.shard),
        stored_after=found_after + rounds * plan.shard * ASK_SECONDS + storing,
        gigabytes=BATCHES * ANSWER_BYTES / 1_000_000_000,
    )


def most_steps_of_instance(plan: Plan) -> int:
    """An instance whose batches are given up after eight days, one by one stored on the way."""
    rounds, _ = empty_rounds(GIVEN_UP_AFTER)
    return 2 + rounds + plan.shard


def batches_within(plan: Plan, seconds: float) -> int:
    """How many batches' steps, all taken within one of the plan's periods, are within what it includes."""
    rounds, _ = empty_rounds(seconds)
    return plan.steps // of_instance(plan.shard, ANSWER_BYTES, rounds, announced=False).steps * plan.shard


def table() -> str:
    """The table of docs/collecting.md."""
    heads = (
        *("plan", "done after", "rounds without a result", "steps of an instance", "steps in all", "questions"),
        *("class A", "class B", "calls", "most subrequests in a step", "all stored after", "dollars"),
    )
    lines = [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    for plan in (PAID, FREE):
        for seconds, duration in DURATIONS:
            lines.append(_line(costs(plan, seconds, duration)))
    return "\n".join(lines) + "\n"


def _line(cost: Costs) -> str:
    days = math.ceil(cost.steps / cost.plan.steps)
    over = f", {days} {cost.plan.period}s' worth" if days > 1 else ""
    cells = (
        f"{cost.plan.name}: {cost.shards} × {cost.plan.shard}",
        cost.duration,
        str(cost.rounds),
        f"{cost.instance.steps} of {cost.plan.steps_of_instance:,}",
        f"{cost.steps:,} of {cost.plan.steps:,} a {cost.plan.period}{over}",
        f"{cost.asks:,}",
        f"{cost.class_a:,}",
        f"{cost.class_b:,}",
        f"{cost.requests:,}",
        f"{cost.instance.most_in_a_step} of {cost.plan.subrequests:,}",
        f"{cost.stored_after:,.0f} s",
        f"${cost.dollars:.2f}",
    )
    return f"| {' | '.join(cells)} |"
