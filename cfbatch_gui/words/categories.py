"""What both faces say of categories."""

from collections.abc import Sequence

from cfbatch_gui.core.results.categories import Agreement, parse_categories
from cfbatch_gui.words.figures import Runs, emphasised, number, percent, plural, worded
from cfbatch_gui.words.languages import tr


def category_lines(lines: Sequence[str]) -> list[str]:
    """Lines of categories with one for each, as people type them."""
    found = []
    for each in parse_categories(lines):
        examples = [sentence.removeprefix(f"{each.name}: ") for sentence in each.sentences]
        found.append(each.name if examples == [each.name] else f"{each.name}: {' | '.join(examples)}")
    return found


def agreement_words(found: Agreement, column: str) -> Runs:
    """How often rows got what a column says, or with "" what was decided about the rows that were checked by key."""
    if not found.checked:
        return ((tr("How well does it fit? Decide some rows by key, and here stands how often that agrees."), False),)
    rows = plural(found.checked, "{n} row", "{n} rows")
    low, high, most = number(100 * found.low, ".0f"), percent(found.high), percent(0.95)
    interval = worded("({most}: {low}–{high})", most=most, low=low, high=high)
    values: dict[str, str | Runs] = {
        "share": percent(found.share),
        "rows": ((rows, False),),
        "interval": ((interval, False),),
    }
    if column:
        return emphasised("Agrees with your column {column} for {share} of {rows} {interval}", column=column, **values)
    return emphasised("Agrees with what you decided for {share} of {rows} {interval}", **values)
