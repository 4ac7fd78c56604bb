"""What a job may cost, in words, and the check against the budget."""

import time
from collections.abc import Iterator
from datetime import datetime

from cfbatch_gui.cli.exit_status import ExitStatus
from cfbatch_gui.cli.language import number, percent, tr
from cfbatch_gui.cli.parser import Parser
from cfbatch_gui.core.errors import OverBudget
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.plan.preflight import Preflight, reuse_sentence
from cfbatch_gui.core.jobs.plan.spending import Spent, over_budget
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.messages import Message, message
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.core.system.settings import Budget
from cfbatch_gui.core.workers_ai.catalogue import Price, next_reset
from cfbatch_gui.core.workers_ai.connection_kinds import PRACTICE


def add_budget_argument(parser: Parser) -> None:
    parser.add_options(
        """
        --budget DOLLARS  send nothing if it may cost more; exit status {status} (default: the budget that is set in the
            window)
        """,
        status=f"{ExitStatus.OVER_BUDGET:d}",
    )


def check_budget(preflight: Preflight, asked: float | None, usual: Budget, spent: Spent) -> None:
    """Raise OverBudget above `asked` dollars, or, without them, above the saved budget."""
    budget = usual if asked is None else budget_of(asked)
    if sentence := over_budget(preflight.price_high, budget, spent):
        raise OverBudget(_with_the_way_out(sentence))


async def send_again(program: Program, job_id: str, *numbers: int, asked: float | None) -> Job:
    """Within `asked` dollars, or, without them, within the saved budget. Raises OverBudget."""
    try:
        return await program.send_again(job_id, *numbers, budget=None if asked is None else budget_of(asked))
    except OverBudget as error:
        raise OverBudget(_with_the_way_out(error.message)) from error


def budget_of(asked: float) -> Budget:
    """0.0 becomes a tiny amount, because 0.0 would mean no limit."""
    return Budget(a_job=max(asked, 1e-9))


def _with_the_way_out(sentence: str) -> Message:
    return message("{sentence} Nothing was sent. Allow more with --budget DOLLARS.", sentence=sentence)


def tokens_words(preflight: Preflight) -> str:
    """Such as "10 to 14"."""
    low, high = preflight.tokens_low, preflight.tokens_high
    return tr("{low} to {high}").format(low=number(low), high=number(high)) if low != high else number(low)


def price_words(preflight: Preflight) -> str:
    """Such as "less than $0.01, 3.2% of a day's free use"."""
    high = preflight.price_high
    if not high.is_listed:
        return most_words(high)
    return tr("{price}, {share} of a day's free use").format(price=most_words(high), share=share_words(high))


def most_words(price: Price, digits: int = 2) -> str:
    """Such as "at most $1.20"."""
    if not price.is_listed:
        return tr("price not listed")
    words, least = tr("at most ${amount}"), 10.0**-digits
    if price.dollars < least:
        words = tr("less than ${amount}")
    return words.format(amount=number(max(price.dollars, least), f",.{digits}f"))


def share_words(price: Price) -> str:
    """Such as "3.2%", or "less than 0.1%" for what would be rounded to nothing."""
    share = price.share_of_free_day
    if share >= 0.001 or not share:
        return percent(share, ".1%")
    return tr("less than {share}").format(share=percent(0.001, ".1%"))


def reset_words() -> str:
    return f"{datetime.fromtimestamp(next_reset(time.time())).astimezone():%H:%M}"


def add_reuse_arguments(parser: Parser) -> None:
    """None, which is neither, means reuse."""
    parser.add_options(
        """
        --[no-]reuse  take what earlier jobs have of it from there, and send only what is new (the default), or send
            everything
        """
    )


def lines_of_reuse(found: Preflight, kind: Kind, connection: str) -> Iterator[str]:
    sentence = said(reuse_sentence(found, kind))
    if not sentence or found.reuse is None:
        return
    yield sentence
    if connection != PRACTICE.id and found.price_high.is_listed:
        yield tr("At most ${price} instead of ${whole}.").format(
            price=number(found.price_high.dollars, ".4f"), whole=number(found.reuse.high.dollars, ".4f")
        )


def json_of_reuse(found: Preflight) -> dict[str, object] | None:
    if found.reuse is None:
        return None
    return {
        "texts": found.reuse.texts,
        "sent_texts": found.sent_texts,
        "jobs": [{"job": each.job.id, "name": each.job.name, "texts": each.texts} for each in found.reuse.found.jobs],
        "tokens": {"low": found.reuse.tokens_low, "high": found.reuse.tokens_high},
        "price_without": {"low": found.reuse.low.dollars, "high": found.reuse.high.dollars},
    }
