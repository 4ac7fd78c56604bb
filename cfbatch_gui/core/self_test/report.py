"""The lines of a self-test: the outcome, what was looked at, and what was found; at the end their sum."""

from collections import Counter
from collections.abc import Callable, Iterable

from cfbatch_gui.core.messages import comma_list, counted_message, message
from cfbatch_gui.core.self_test.findings import Check, Finding, Outcome
from cfbatch_gui.core.self_test.running import run_in_time
from cfbatch_gui.core.system.languages import said

_TITLE = 26  # characters of the widest title, in any language
_WORDS = {
    Outcome.OK: message("ok"),
    Outcome.WARNING: message("warning"),
    Outcome.SKIPPED: message("skipped"),
    Outcome.FAILED: message("failed"),
}


class Report:
    """Gives each line to `write` as soon as it is known, so that a program that dies has said what it did before."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write
        self._outcomes: Counter[Outcome] = Counter()
        self._word = max(len(said(word)) for word in _WORDS.values())

    def run(self, checks: Iterable[Check]) -> None:
        """Run the checks, each in its time, and write their lines."""
        for check in checks:
            self.add(check.title, run_in_time(check))

    def add(self, title: str, finding: Finding) -> None:
        """Write the line of one check."""
        self._outcomes[finding.outcome] += 1
        word = said(_WORDS[finding.outcome])
        sentence = " ".join(said(finding.sentence).split())
        self._write(f"{word:<{self._word}}  {said(title):<{_TITLE}}  {sentence}")

    def end(self) -> int:
        """Write the last line; the exit status: 1 when a check failed, else 0."""
        several = comma_list(
            [
                message("{n} {outcome}", n=self._outcomes[outcome], outcome=_WORDS[outcome])
                for outcome in Outcome
                if self._outcomes[outcome]
            ]
        )
        count = self._outcomes.total()
        self._write(said(counted_message(count, "{n} check: {outcomes}", "{n} checks: {outcomes}", outcomes=several)))
        return 1 if self._outcomes[Outcome.FAILED] else 0
