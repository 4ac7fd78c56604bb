"""Screening records one after the other, each verdict on the disk before the next record is shown."""

from collections.abc import Callable

from cfbatch_gui.core.judgements.decisions import Decisions
from cfbatch_gui.core.judgements.session import Pace
from cfbatch_gui.core.results.list_rows import ListRow, read_rows
from cfbatch_gui.core.results.matches import Decision
from cfbatch_gui.core.results.screening import Flow, Records, Verdict, verdict_of


class Screening:
    """Making it, deciding and taking back are blocking. Raises DataError, DiskFull, after which nothing has changed."""

    def __init__(self, records: Records, decisions: Decisions, *, clock: Callable[[], float]) -> None:
        self.records, self._decisions, self._pace = records, decisions, Pace(clock)
        self.texts = records.texts()
        self.verdicts = [verdict_of(decisions.find(text)) for text in self.texts]
        self.given: list[tuple[int, Decision | None]] = []  # of this session: a record's place, and what counted before
        self.place = -1
        self._show(0)

    @property
    def flow(self) -> Flow:
        return self.records.flow(self.verdicts)

    @property
    def score(self) -> float:
        """Of the record that is shown, NaN without one."""
        return float(self.records.scores[self.place])

    def seconds_left(self) -> float:
        return self._pace.seconds_left(self.flow.left)

    def decide(self, verdict: Verdict) -> None:
        if self.record is None:
            return
        decision = Decision(verdict, accepted=verdict is Verdict.INCLUDE)
        self.given.append((self.place, self._decisions.decide(self.texts[self.place], decision)))
        self.verdicts[self.place] = verdict
        self._pace.answered()
        self._show(self.place + 1)

    def take_back(self) -> None:
        """Take the last verdict back, if there is one, and show its record again."""
        if not self.given:
            return
        place, before = self.given[-1]
        self._decisions.decide(self.texts[place], before)
        self.given.pop()
        self.verdicts[place] = verdict_of(before)
        self._pace.taken_back()
        self._show(place)

    def _show(self, start: int) -> None:
        """The next record that has no verdict, from `start` on, then from the first; None when there is none."""
        count = len(self.texts)
        is_open = (
            each
            for each in (*range(start, count), *range(start))
            if self.verdicts[each] is None and not self.records.is_duplicate[each]
        )
        self.place = next(is_open, -1)
        self.record: ListRow | None = None
        if self.place >= 0:
            items = [int(self.records.items[self.place])]
            (self.record,) = read_rows(self.records.folder, items, self.records.job.failed_batches)
