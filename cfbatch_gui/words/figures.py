"""Numbers, sizes, prices, durations and dates as text in the language that is in use."""

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from numbers import Integral
from string import Formatter
from typing import TYPE_CHECKING

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.messages import message
from cfbatch_gui.words.languages import language_in_use, said, tr

if TYPE_CHECKING:
    from cfbatch_gui.core.jobs.plan.spending import PastTimes
    from cfbatch_gui.core.workers_ai.catalogue import Price


def number(value: float, specification: str = ",") -> str:
    """3816 → "3,816", with this language's signs."""
    return language_in_use().number(value, specification)


def percent(share: float, specification: str = ".0%") -> str:
    """0.825 → "82%"; languages differ in the space before the sign."""
    return worded("{n}%", n=number(share, specification).rstrip("%"))


def local_signs(text: str) -> str:
    """Figures written as in English, such as "0.4939–0.5100", with the signs of the language."""
    return language_in_use().signs(text)


def score_text(score: float) -> str:
    """With the digits of `core.results.numbers`, which takes longer to import than many a command to run."""
    return number(score, ".4f")


def moved(ranks: int) -> str:
    return f"↑ {number(ranks)}" if ranks > 0 else f"↓ {number(-ranks)}" if ranks < 0 else "–"


def plural(count: int, one: str, many: str, **others: object) -> str:
    """plural(3, "{n} row", "{n} rows") → "3 rows"; languages may have other forms than these two."""
    return filled(language_in_use().translated_plural(one, many, count), {"n": count, **others})


def worded(text: str, /, **values: object) -> str:
    """`text` in the language, with these values; numbers get its signs, and four decimals unless they are whole."""
    return filled(tr(text), values)


def filled(text: str, values: Mapping[str, object]) -> str:
    """`text`, which is in the language, with values as those of `worded`."""
    return text.format(**{name: _shown(each) for name, each in values.items()})


def _shown(value: object) -> object:
    if isinstance(value, float):
        return score_text(value)
    return number(int(value)) if isinstance(value, Integral) else value


Runs = tuple[tuple[str, bool], ...]
"""A sentence in runs of text, each with whether it stands out."""


def emphasised(text: str, /, **values: str | Runs) -> Runs:
    """`text` in the language, in which the values stand out, or are runs themselves."""
    runs: list[tuple[str, bool]] = []
    for literal, name, _, _ in Formatter().parse(tr(text)):
        value = values[name] if name else ()
        runs += [(literal, False), *(value if isinstance(value, tuple) else ((value, True),))]
    return tuple(run for run in runs if run[0])


def plain(runs: Runs) -> str:
    return "".join(text for text, _ in runs)


def told(code: str, /, **values: object) -> str:
    """A sentence of resources/sentences.txt, in the language."""
    return said(message(code, **values))


def usage_error(text: str, /, **values: object) -> UsageError:
    return UsageError(message(text, **values))


def listed(things: Sequence[str]) -> str:
    if len(things) < 2:
        return "".join(things)
    return tr("{some} and {last}").format(some=", ".join(things[:-1]), last=things[-1])


def listed_runs(things: Sequence[str]) -> Runs:
    """As `listed`, with the things standing out."""
    if len(things) < 2:
        return tuple((thing, True) for thing in things)
    some = tuple(run for thing in things[:-1] for run in ((", ", False), (thing, True)))[1:]
    return emphasised("{some} and {last}", some=some, last=things[-1])


def size(count: int) -> str:
    """ "980 B", "12 kB", "9.4 MB", in powers of ten like the limit of the service."""
    if count < 1000:
        return tr("{n} B").format(n=count)
    if count < 999_500:
        return tr("{n} kB").format(n=round(count / 1000))
    if count < 999_950_000:
        return tr("{n} MB").format(n=language_in_use().number(count / 1e6, ".1f"))
    return tr("{n} GB").format(n=language_in_use().number(count / 1e9, ".1f"))


def dollars(low: float, high: float | None = None) -> str:
    """ "$12.40", "$0.011–0.014"; with three decimals below one dollar."""
    high = low if high is None else high
    digits = 2 if high >= 1 else 3
    if 0 < high < 10**-digits:
        return tr("under {price}").format(price=_price(10**-digits, digits))
    shown_low, shown_high = _amount(low, digits), _amount(high, digits)
    if shown_low == shown_high:
        return _price(high, digits)
    return tr("${low}–{high}").format(low=shown_low, high=shown_high)


def about_dollars(amount: float) -> str:
    """ "$12.40", "$0.0004": as many decimals as the first digit that counts needs, at least two."""
    return _price(amount, max(2, -math.floor(math.log10(amount))) if amount > 0 else 2)


def prices(low: "Price", high: "Price | None" = None) -> str:
    """As `dollars`, for a model whose price may not be listed."""
    return dollars(low.dollars, None if high is None else high.dollars) if low.is_listed else tr("price not listed")


def _price(amount: float, digits: int) -> str:
    return tr("${amount}").format(amount=_amount(amount, digits))


def _amount(amount: float, digits: int) -> str:
    return language_in_use().number(amount, f",.{digits}f")


def duration(seconds: float) -> str:
    """Seconds as "8 s", "6 min 02 s", "1 h 05 min", "3 days"."""
    whole = max(0, int(seconds))
    if whole < 60:
        return tr("{s} s").format(s=whole)
    if whole < 3600:
        return tr("{m} min {s} s").format(m=whole // 60, s=f"{whole % 60:02}")
    if whole < 48 * 3600:
        return tr("{h} h {m} min").format(h=whole // 3600, m=f"{whole % 3600 // 60:02}")
    return tr("{d} days").format(d=whole // 86400)


def duration_range(low: float, high: float) -> str:
    """Seconds in the unit of the longer end: "8–12 s", "3–7 min"; once if both are equal."""
    if high < 90:
        unit, name = 1, tr("s")
    elif high < 5400:
        unit, name = 60, tr("min")
    else:
        unit, name = 3600, tr("h")
    least, most = (
        language_in_use().number(value / unit, ".1f") if unit == 3600 else f"{max(1, round(value / unit))}"
        for value in (low, high)
    )
    return f"{most} {name}" if least == most else f"{least}–{most} {name}"


def usual_words(past: "PastTimes | None") -> str:
    """How long jobs like this one take; "" without any."""
    if past is None:
        return ""
    pattern = tr("Your jobs of this size usually take {time}.")
    if past.jobs == 1:
        pattern = tr("Your last job of this size took {time}.")
    return pattern.format(time=duration_range(past.shortest, past.longest))


def short_duration(seconds: float) -> str:
    """Seconds in their largest unit alone, so that it changes rarely: "now", "2 min", "3 h"."""
    whole = max(0, int(seconds))
    if whole < 60:
        return tr("now")
    if whole < 3600:
        return tr("{m} min").format(m=whole // 60)
    if whole < 48 * 3600:
        return tr("{h} h").format(h=whole // 3600)
    return tr("{d} days").format(d=whole // 86400)


def age(then: float, now: float) -> str:
    """ "just now", "4 min ago", "yesterday", "Tuesday", "3 Nov 2023"; both are seconds since 1970."""
    if now - then < 60:
        return tr("just now")
    if now - then < 3600:
        return tr("{m} min ago").format(m=int(now - then) // 60)
    before, today = datetime.fromtimestamp(then).astimezone(), datetime.fromtimestamp(now).astimezone()
    days = (today.date() - before.date()).days
    if days == 0:
        return tr("{h} h ago").format(h=int(now - then) // 3600)
    if days == 1:
        return tr("yesterday")
    if days < 7:
        return tr("Monday, Tuesday, Wednesday, Thursday, Friday, Saturday, Sunday").split(", ")[before.weekday()]
    month = tr("Jan, Feb, Mar, Apr, May, Jun, Jul, Aug, Sep, Oct, Nov, Dec").split(", ")[before.month - 1]
    pattern = tr("{day} {month}") if before.year == today.year else tr("{day} {month} {year}")
    return pattern.format(day=before.day, month=month, year=before.year)


def moment(seconds: float) -> str:
    """A moment, in seconds since 1970, in local time; "" for 0."""
    return f"{datetime.fromtimestamp(seconds).astimezone():%Y-%m-%d %H:%M:%S}" if seconds else ""


def one_line(text: str, limit: int = 500) -> str:
    """White space becomes single spaces, and text beyond `limit` characters "…"."""
    cut = text[:limit]
    return " ".join(cut.split()) + ("…" if len(text) > limit else "") if cut else ""
