"""The user's own sheet with the category of each row, and how many rows each category has."""

from collections import Counter
from collections.abc import Iterator

from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results.categories import agreement_of_job, read_categories
from cfbatch_gui.core.results.exports.base import Cell, Work
from cfbatch_gui.core.results.exports.match_rows import HEADERS, STATES, number_or_none
from cfbatch_gui.core.results.exports.own_sheet import OwnRows
from cfbatch_gui.core.results.list_rows import ListRow, items_of, left_out_rows
from cfbatch_gui.core.results.matches import MatchState

NONE_OF_THESE, NOT_SORTED = message("none_of_these"), message("not_sorted")
CATEGORY_STATES = {**STATES, MatchState.MATCHED: message("sorted"), MatchState.WITHOUT: NONE_OF_THESE}
COUNTED = message("category"), message("rows_sheet"), message("share")
TAKEN = message("right_category"), message("given_category"), message("rows_sheet")
_ADDED = (
    *(("category", message("category"), "utf8"), ("score", HEADERS["score"], "float64")),
    *(("second_best", message("second_best"), "utf8"), ("margin", HEADERS["margin"], "float64")),
    ("state", HEADERS["state"], "utf8"),
)
_NONE, _WITHOUT = -1, -2  # instead of a category: none of these, and no vector


class CategoryRows(OwnRows):
    """Beside a row of no category stands the one that would have been the nearest as its second best."""

    def __init__(self, work: Work, *, for_people: bool = False) -> None:
        known = work.matches if work.matches is not None and work.matches.categories is not None else None
        self.matches = known or read_categories(
            work.folder, work.job, work.decided, progress=lambda share: work.steps.wrote(0)
        )
        self._names = [each.name for each in self.matches.categories or ()]
        work.steps.wrote(len(items_of(work.folder, 2)) + len(left_out_rows(work.folder, 2)))  # list B
        say = work.say if for_people else str
        self._say = say
        self._states = [say(CATEGORY_STATES[each]) if for_people else each.name.lower() for each in MatchState]
        self._index_of = {item: index for index, item in enumerate(self.matches.items_a.tolist())}
        self._counts = Counter[int]()
        super().__init__(work, _ADDED, self._given, for_people=for_people)
        self.notes = {"categories": self.matches.tally()}

    def counted(self) -> Iterator[tuple[str, int, float]]:
        """The rows that were written so far, and their share, by category; then those of none."""
        counts = {at: self._counts[at] for at in sorted(range(len(self._names)), key=lambda at: -self._counts[at])}
        counts |= {at: self._counts[at] for at in (_NONE, _WITHOUT) if self._counts[at]}
        names = [*self._names, self._say(NOT_SORTED), self._say(NONE_OF_THESE)]
        for at, count in counts.items():
            yield names[at], count, round(count / max(1, self._counts.total()), 4)

    def taken(self) -> Iterator[tuple[str, str, int]]:
        """By which categories rows were taken for which, where the right ones are known."""
        found = agreement_of_job(self.matches, self._work.job)
        none = self._say(NONE_OF_THESE)
        for right, given, count in found.confusions if found is not None else ():
            yield right or none, given or none, count

    def _given(self, row: ListRow) -> list[Cell]:
        """What a row gets; one that was never sent has no item."""
        matches, index = self.matches, self._index_of.get(row.item_no, -1)
        chosen = int(matches.chosen[index]) if index >= 0 else _NONE
        self._counts[_WITHOUT if row.error and chosen < 0 else chosen] += 1
        options = matches.options(index) if index >= 0 else []
        second, behind = next((pair for pair in options if pair[0] != chosen), (-1, float("nan")))
        score = matches.score_of(index, chosen) if chosen >= 0 else float("nan")
        name, other = (self._names[at] if at >= 0 else "" for at in (chosen, second))
        state = self._say(row.error) if row.error else self._states[matches.states[index]]
        return [name, number_or_none(score), other, number_or_none(round(score - behind, 9)), state]
