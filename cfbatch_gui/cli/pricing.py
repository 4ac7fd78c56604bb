"""What a job may cost, in words, and the check against the budget."""

import argparse
import time
from datetime import datetime

from cfbatch_gui.cli.exit_status import ExitStatus
from cfbatch_gui.cli.language import number, percent, tr
from cfbatch_gui.cli.reading import dollars
from cfbatch_gui.core.errors import OverBudget
from cfbatch_gui.core.jobs.plan.preflight import Preflight
from cfbatch_gui.core.jobs.plan.spending import Spent, over_budget
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.messages import Message, message
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.settings import Budget
from cfbatch_gui.core.workers_ai.catalogue import Price, next_reset


def add_budget_argument(parser: argparse.ArgumentParser) -> None:
    """Add `--budget`, the amount that may be spent on the whole job."""
    parser.add_argument(
        "--budget",
        metavar=tr("DOLLARS"),
        type=dollars,
        help=tr(
            "send nothing if it may cost more; exit status {status} (default: the budget that is set in the window)"
        ).format(status=f"{ExitStatus.OVER_BUDGET:d}"),
    )


def check_budget(preflight: Preflight, asked: float | None, usual: Budget, spent: Spent) -> None:
    """Raise OverBudget when the job may cost more than `asked` dollars, or, without them, than the saved budget."""
    budget = usual if asked is None else budget_of(asked)
    if sentence := over_budget(preflight.price_high, budget, spent):
        raise OverBudget(_with_the_way_out(sentence))


async def send_again(program: Program, job_id: str, *numbers: int, asked: float | None) -> Job:
    """`Program.send_again` within `asked` dollars, or, without them, within the saved budget. Raises OverBudget."""
    try:
        return await program.send_again(job_id, *numbers, budget=None if asked is None else budget_of(asked))
    except OverBudget as error:
        raise OverBudget(_with_the_way_out(error.message)) from error


def budget_of(asked: float) -> Budget:
    """A budget of `asked` dollars for one job. 0.0 becomes a tiny amount, because 0.0 would mean no limit."""
    return Budget(a_job=max(asked, 1e-9))


def _with_the_way_out(sentence: str) -> Message:
    return message("{sentence} Nothing was sent. Allow more with --budget DOLLARS.", sentence=sentence)


def tokens_words(preflight: Preflight) -> str:
    """The lower and the upper estimate of tokens, such as "10 to 14"; one number when they are equal."""
    low, high = preflight.tokens_low, preflight.tokens_high
    return tr("{low} to {high}").format(low=number(low), high=number(high)) if low != high else number(low)


def price_words(preflight: Preflight) -> str:
    """The upper price and its share of a day's free allowance: "less than $0.01, 3.2% of a day's free use"."""
    high = preflight.price_high.dollars
    if high < 0.01:
        most = tr("less than ${amount}").format(amount=number(0.01, ".2f"))
    else:
        most = tr("at most ${amount}").format(amount=number(high, ",.2f"))
    return tr("{price}, {share} of a day's free use").format(price=most, share=share_words(preflight.price_high))


def share_words(price: Price) -> str:
    """The share of a day's free allowance: "3.2%", or "less than 0.1%" for what would be rounded to nothing."""
    share = price.share_of_free_day
    if share >= 0.001 or not share:
        return percent(share, ".1%")
    return tr("less than {share}").format(share=percent(0.001, ".1%"))


def reset_words() -> str:
    """The next time at which the free allowance is reset, in local time."""
    return f"{datetime.fromtimestamp(next_reset(time.time())).astimezone():%H:%M}"
