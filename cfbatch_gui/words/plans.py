"""What a plan comes to, before anything is sent: in one line, and the facts behind it."""

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.plan.packing import Plan
from cfbatch_gui.core.jobs.plan.spending import PastTimes, Spent
from cfbatch_gui.core.jobs.states import Job, Purpose
from cfbatch_gui.core.workers_ai.catalogue import FREE_NEURONS_A_DAY, Price, next_reset, price
from cfbatch_gui.words import figures
from cfbatch_gui.words.figures import Runs, about_dollars, emphasised, number, percent, plural, prices, size, worded
from cfbatch_gui.words.languages import tr
from cfbatch_gui.words.states import is_practice

if TYPE_CHECKING:
    from cfbatch_gui.core.results.matches import ListCounts

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
        return worded("usually {time}", time=figures.duration_range(past.shortest, past.longest))
    if found.synchronous_sentence and job.options.at_once:
        return tr("a few seconds")
    if len(found.batches) > _FEW or job.options.at_once:
        return ""
    return tr("a few seconds") if is_practice(job) else tr("usually within 5 minutes")


MANY_PAIRS = 100_000  # from here on a match of the two lists is named, which costs less


def match_instead_words(queries: int, contexts: int, found: Plan | None = None) -> str:
    """What a ranking of all contexts for each query would come to as a match of the two lists, "" where it has few
    pairs; with the plan of the ranking also about which price.
    """
    pairs, fewer = queries * contexts, min(queries, contexts)
    if pairs < MANY_PAIRS:
        return ""
    words = plural(queries + contexts, "{n} text instead", "{n} texts instead")
    if found is not None and found.price_high.is_listed:
        cost = about_dollars(price(found.tokens_high // fewer, found.model).dollars)
        words = worded("{words}, about {price}", words=words, price=cost)
    return worded("These are {pairs} pairs. Matching the two lists sends {words}.", pairs=pairs, words=words)


def lists_words(lists: "ListCounts", found: Plan, job: Job) -> Runs:
    """Such as "500 rows of A and 2,000 of B are sent once: 2,500 texts, about $0.0004"; of one list its rows."""
    a, b = lists.texts
    rows: Runs = ((plural(a, "{n} row", "{n} rows"), True),)
    if b and job.purpose is Purpose.CATEGORIES:
        texts_of_b = plural(b, "{n} text of your categories", "{n} texts of your categories")
        rows = emphasised("{a} and {b}", a=rows[0][0], b=texts_of_b)
    elif b:
        of_a, of_b = plural(a, "{n} row of A", "{n} rows of A"), plural(b, "{n} of B", "{n} of B")
        rows = emphasised("{a} and {b}", a=of_a, b=of_b)
    if not found.batches:
        return emphasised("{rows}: nothing is sent", rows=rows)
    sent = emphasised("{rows} are sent once", rows=rows)
    texts = plural(found.sent_texts, "{n} text", "{n} texts")
    if is_practice(job) or not found.price_high.is_listed:
        cost = tr("$0") if is_practice(job) else prices(found.price_high)
        return emphasised("{sent}: {texts}, {price}", sent=sent, texts=texts, price=cost)
    cost = about_dollars((found.price_low.dollars + found.price_high.dollars) / 2)
    return emphasised("{sent}: {texts}, about {price}", sent=sent, texts=texts, price=cost)


def lists_notes(lists: "ListCounts", found: Plan, job: Job) -> str:
    """The part of a day's free use, what earlier jobs have, and which texts need no comparing, in sentences."""
    share, notes = found.price_high.share_of_free_day, []
    if found.batches and not is_practice(job) and found.price_high.is_listed:
        least = worded("Less than {share} of a day's free use.", share=percent(0.01))
        notes.append(worded("{share} of a day's free use.", share=percent(share)) if share >= 0.01 else least)
    if found.reused:
        words = plural(found.reused, "{n} text is taken from earlier jobs.", "{n} texts are taken from earlier jobs.")
        notes.append(words)
    if lists.same:
        words = plural(
            lists.same,
            "{n} text is the same in both lists and matches by itself.",
            "{n} texts are the same in both lists and match by themselves.",
        )
        notes.append(words)
    return " ".join(notes)


def usually_words(found: Plan, job: Job, past: PastTimes | None) -> str:
    """How long it takes, for a line of its own, and that nobody has to wait."""
    time = _time(found, job, past)
    close = tr("You can close the window meanwhile.")
    return f"{time[:1].upper()}{time[1:]}. {close}" if time else close


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
    bodies = [batch.bytes for batch in found.batches]
    sizes = {"all": size(sum(bodies)), "largest": size(max(bodies))}
    yield tr("Bytes"), worded("{all}, the largest batch {largest}", **sizes)
    tokens = tokens_words(found)
    if learned:
        tokens = figures.told("tokens_learned_from_n_jobs", n=learned, tokens=tokens)
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
