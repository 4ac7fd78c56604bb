"""What a job may cost, in words, and the budget that stops it."""

import argparse
import time
from datetime import datetime

from cfbatch_gui.cli.exit_status import ExitStatus
from cfbatch_gui.cli.reading import dollars
from cfbatch_gui.core.errors import OverBudget
from cfbatch_gui.core.jobs.plan.preflight import Preflight
from cfbatch_gui.core.jobs.plan.spending import Spent, over_budget
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.settings import Budget
from cfbatch_gui.core.workers_ai.prices import Price, next_reset


def add_budget_argument(parser: argparse.ArgumentParser) -> None:
    """What may be spent on the job, in all."""
    parser.add_argument(
        "--budget",
        metavar="DOLLARS",
        type=dollars,
        help=f"send nothing if it may cost more; exit status {ExitStatus.OVER_BUDGET:d} (default: the budget that is"
        " set in the window)",
    )


def check_budget(preflight: Preflight, asked: float | None, usual: Budget, spent: Spent) -> None:
    """Raise OverBudget when the job may cost more than the dollars `asked` for, or without them the usual budget."""
    budget = usual if asked is None else budget_of(asked)
    if sentence := over_budget(preflight.price_high, budget, spent):
        raise OverBudget(_with_the_way_out(sentence))


async def send_again(program: Program, job_id: str, *numbers: int, asked: float | None) -> Job:
    """`Program.send_again` within the dollars `asked` for, or without them the usual budget. Raises OverBudget."""
    try:
        return await program.send_again(job_id, *numbers, budget=None if asked is None else budget_of(asked))
    except OverBudget as error:
        raise OverBudget(_with_the_way_out(error.message)) from error


def budget_of(asked: float) -> Budget:
    """For one job, in dollars; 0.0 would be without bound."""
    return Budget(a_job=max(asked, 1e-9))


def _with_the_way_out(sentence: str) -> str:
    return f"{sentence} Nothing was sent. Allow more with --budget DOLLARS."


def tokens_words(preflight: Preflight) -> str:
    """Between how many tokens: "10 to 14", and one number where both are the same."""
    low, high = preflight.tokens_low, preflight.tokens_high
    return f"{low:,} to {high:,}" if low != high else f"{low:,}"


def price_words(preflight: Preflight) -> str:
    """The most it may cost, and what that is of what is free today: "less than $0.01, 3.2% of a day's free use"."""
    high = preflight.price_high.dollars
    most = "less than $0.01" if high < 0.01 else f"at most ${high:,.2f}"
    return f"{most}, {share_words(preflight.price_high)} of a day's free use"


def share_words(price: Price) -> str:
    """Of what is free in a day: "3.2%", and "less than 0.1%" for what would look like nothing."""
    share = price.share_of_free_day
    return f"{share:.1%}" if share >= 0.001 or not share else "less than 0.1%"


def reset_words() -> str:
    """When what is free is counted anew, on this computer's clock."""
    return f"{datetime.fromtimestamp(next_reset(time.time())).astimezone():%H:%M}"
