"""Which of the columns that there are the user wants."""

from collections.abc import Sequence

from cfbatch_gui.core.errors import UsageError

PART = "part"  # a column of jobs whose texts were split: which part of the text it is, or which one scored best


def places_of(wanted: Sequence[str] | None, there: Sequence[str]) -> tuple[int, ...]:
    """The place of each wanted column, in the order that was asked for; None is all. Raises UsageError."""
    if wanted is None:
        return tuple(range(len(there)))
    place_of = {name: place for place, name in reversed(list(enumerate(there)))}
    unknown = [name for name in wanted if name not in place_of]
    if unknown:
        known = ", ".join(f"“{name}”" for name in there) or "none to choose from"
        raise UsageError(f"This job has no column “{unknown[0]}”. There are: {known}.")
    return tuple(place_of[name] for name in dict.fromkeys(wanted))
