"""What a plan comes to, before anything is sent: in one line, and the facts behind it."""

from collections.abc import Iterator
from datetime import datetime

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.plan.packing import Plan
from cfbatch_gui.core.jobs.plan.spending import PastTimes, Spent
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.workers_ai.catalogue import FREE_NEURONS_A_DAY, Price, next_reset
from cfbatch_gui.words.figures import duration_range, number, percent, plural, prices, size, told, worded
from cfbatch_gui.words.languages import tr
from cfbatch_gui.words.states import is_practice

_FEW = 5  # batches, of which all are answered about as soon as one is
_FEW_NEURONS = 10.0
_NOTEWORTHY = 0.01  # share of the free neurons of a day; less than this spent today is not mentioned


def headline(found: Plan, job: Job, past: PastTimes | None) -> str:
    """Such as "about 3,000 tokens · $0 · a few seconds"; a time only where it is known."""
    price = tr("$0") if is_practice(job) else prices(found.price_low, found.price_high)
    return " · ".join(filter(None, (_about_tokens(found), price, _time(found, job, past))))


def _about_tokens(found: Plan) -> str:
    middle = (found.tokens_low + found.tokens_high) // 2
    if found.tokens_low == found.tokens_high:
        return plural(middle, "{n} token", "{n} tokens")
    return plural(round(middle, 2 - len(str(middle))), "about {n} token", "about {n} tokens")


def _time(found: Plan, job: Job, past: PastTimes | None) -> str:
    if not found.batches:
        return ""
    if past is not None:
        return worded("usually {time}", time=duration_range(past.shortest, past.longest))
    if found.synchronous_sentence and job.options.at_once:
        return tr("a few seconds")
    if len(found.batches) > _FEW or job.options.at_once:
        return ""
    return tr("a few seconds") if is_practice(job) else tr("usually within 5 minutes")


def tokens_words(found: Plan) -> str:
    """Such as "10 to 14"."""
    return _range(number(found.tokens_low), number(found.tokens_high))


def _range(low: str, high: str) -> str:
    return worded("{low} to {high}", low=low, high=high) if low != high else low


def share_words(price: Price) -> str:
    """Such as "3.2%", or "less than 0.1%" for what would be rounded to nothing."""
    share = price.share_of_free_day
    if share >= 0.001 or not share:
        return percent(share, ".1%")
    return worded("less than {share}", share=percent(0.001, ".1%"))


def free_words(found: Plan, spent: Spent, now: float) -> str:
    """Which part of a day's free use it takes, and what is left of that; `now` is in seconds since 1970."""
    words = worded("{share} of a day's free use", share=share_words(found.price_high))
    time = f"{datetime.fromtimestamp(next_reset(now)).astimezone():%H:%M}"
    if spent.neurons < _NOTEWORTHY * FREE_NEURONS_A_DAY:
        return worded("{words}, which begins anew at {time}", words=words, time=time)
    left = percent(spent.free_left / FREE_NEURONS_A_DAY)
    return worded("{words}, of which {left} is left till {time}", words=words, left=left, time=time)


def facts(found: Plan, job: Job, rows: int, spent: Spent, now: float) -> Iterator[tuple[str, str]]:
    """Labels and values, none of what is sent where nothing is; `now` is in seconds since 1970."""
    low, high, learned = found.price_low, found.price_high, found.learned_from
    yield tr("Rows"), number(rows)
    if job.kind is Kind.RANK:
        yield tr("Queries"), number(found.queries)
    yield tr("Texts"), number(found.texts)
    if found.reused:
        yield tr("Taken"), plural(found.reused, "{n} text, from earlier jobs", "{n} texts, from earlier jobs")
    if not found.batches:
        return
    requests = number(found.requests)
    if job.options.at_once:
        yield tr("Requests"), worded("{requests}, at once", requests=requests)
    else:
        batches = len(found.batches)
        yield tr("Requests"), plural(batches, "{requests} in {n} batch", "{requests} in {n} batches", requests=requests)
    sizes = {"all": size(found.total_bytes), "largest": size(found.largest_bytes)}
    yield tr("Bytes"), worded("{all}, the largest batch {largest}", **sizes)
    tokens = tokens_words(found)
    if learned:
        tokens = told("tokens_learned_from_n_jobs", n=learned, tokens=tokens)
    yield tr("Tokens"), tokens
    if not high.is_listed:
        yield tr("Dollars"), tr("price not listed")
        return
    digits = ",.0f" if high.neurons >= _FEW_NEURONS else ".2f"
    neurons = _range(number(low.neurons, digits), number(high.neurons, digits))
    yield tr("Neurons"), f"{neurons}, {free_words(found, spent, now)}"
    words = (
        tr("{price} at Cloudflare; practice costs nothing") if is_practice(job) else tr("{price}, before what is free")
    )
    yield tr("Dollars"), words.format(price=prices(low, high))


def too_long_words(found: Plan, *, is_cut: bool) -> str:
    """How many texts the model does not read whole, and what becomes of the rest."""
    reads = plural(found.model.max_tokens, "{n} token", "{n} tokens")
    texts = plural(found.too_long, "{n} text may be longer", "{n} texts may be longer")
    words = worded("{texts} than the model reads ({reads}).", texts=texts, reads=reads)
    return worded("{words} The rest is not read.", words=words) if is_cut else words
