"""Numbers, sizes, prices, durations, dates, data and keys as text for the screen."""

import html
import re
import sys
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QCoreApplication, QDate, QLocale
from PySide6.QtGui import QKeySequence
from PySide6.QtGui import Qt as GuiQt

from cfbatch_gui.core.system.languages import language_in_use
from cfbatch_gui.core.workers_ai.catalogue import Price

if TYPE_CHECKING:
    from cfbatch_gui.core.jobs.plan.spending import PastTimes

_LONGEST_TIP = 4000
_LONG_WORD = re.compile("[!-\u024f]{40,}")  # Latin letters only: Qt breaks other scripts itself
_PARTS = re.compile(".{1,20}")
_MAY_BREAK = "\u200b"


def tr(text: str) -> str:
    return QCoreApplication.translate("words", text)


def number(value: float, specification: str = ",") -> str:
    """3816 → "3,816", with this language's signs."""
    return language_in_use().number(value, specification)


def percent(share: float) -> str:
    """0.825 → "82 %"."""
    return f"{share:.0%}".replace("%", " %")


def figures(text: str) -> str:
    """Figures written as in English, such as "0.4939–0.5100", with the signs of the language."""
    language = language_in_use()
    return text.translate({ord(","): language.thousands, ord("."): language.decimal})


def score_text(score: float) -> str:
    return number(score, ".4f")


def copied_number(value: float) -> str:
    """As a spreadsheet of this locale reads it: 0.7123456 → "0,7123456" in German."""
    return repr(value).replace(".", QLocale().decimalPoint())


def moved(ranks: int) -> str:
    return f"↑ {number(ranks)}" if ranks > 0 else f"↓ {number(-ranks)}" if ranks < 0 else "–"


def plural(count: int, one: str, many: str) -> str:
    """plural(3, "{n} row", "{n} rows") → "3 rows"; languages may have other forms than these two."""
    return language_in_use().translated_plural(one, many, count).format(n=number(count))


def listed(things: Sequence[str]) -> str:
    if len(things) < 2:
        return "".join(things)
    return tr("{some} and {last}").format(some=", ".join(things[:-1]), last=things[-1])


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


def prices(low: Price, high: Price | None = None) -> str:
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
    locale = QLocale()
    if days < 7:
        return locale.standaloneDayName(before.isoweekday())
    pattern = tr("d MMM") if before.year == today.year else tr("d MMM yyyy")  # Qt's letters for day, month and year
    return locale.toString(QDate(before.year, before.month, before.day), pattern)


def moment(seconds: float) -> str:
    """A moment, in seconds since 1970, in local time; "" for 0."""
    return f"{datetime.fromtimestamp(seconds).astimezone():%Y-%m-%d %H:%M:%S}" if seconds else ""


def one_line(text: str, limit: int = 500) -> str:
    """White space becomes single spaces, and text beyond `limit` characters "…"."""
    cut = text[:limit]
    return " ".join(cut.split()) + ("…" if len(text) > limit else "") if cut else ""


def plain_tip(text: str) -> str:
    """A tooltip that shows data literally: Qt would read tags as rich text, and load files that they name."""
    cut = text if len(text) <= _LONGEST_TIP else text[:_LONGEST_TIP] + "…"
    return f"<p style='white-space: pre-wrap'>{html.escape(cut)}</p>" if GuiQt.mightBeRichText(cut) else cut


def breakable(text: str) -> str:
    """Insert invisible break points into long words, so that a label can wrap them."""
    return _LONG_WORD.sub(lambda found: _MAY_BREAK.join(_PARTS.findall(found[0])), text)


def csv_separator() -> str:
    """ ";" where the decimal point of this system is a comma."""
    return ";" if QLocale.system().decimalPoint() == "," else ","


_IN_HELP: Final = re.compile(r"\*\*(?:Ctrl|Strg)(?:\+(\w))?\*\*")  # in the languages of the help


def key_name(keys: str) -> str:
    return QKeySequence(keys).toString(QKeySequence.SequenceFormat.NativeText)


def control_name(platform: str = sys.platform) -> str:
    return "⌘" if platform == "darwin" else tr("Ctrl")


def in_help(text: str, platform: str = sys.platform) -> str:
    if platform != "darwin":
        return text
    return _IN_HELP.sub(lambda found: f"**⌘{found[1] or ''}**", text)
