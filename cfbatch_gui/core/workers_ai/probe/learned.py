"""What probes have found out that the program goes by, in one file for each connection."""

import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import msgspec

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.system.files import write_own_file
from cfbatch_gui.core.workers_ai.probe.findings import Finding, Outcome

_log = logging.getLogger(__name__)
_IS_HELD: Final = {Outcome.HELD: True, Outcome.NOT_HELD: False, Outcome.NOT_SEEN: None}


@dataclass(frozen=True, slots=True)
class Learned:
    """`queue`: whether the model takes batches; `references`: whether elements repeat theirs; None for not known.

    `at` is in seconds since 1970, UTC, 0.0 when no probe was made; `account_mark` is the account's at that time.
    """

    queue: bool | None = None
    references: bool | None = None
    at: float = 0.0
    account_mark: str = ""


def learn(findings: tuple[Finding, ...], at: float, account_mark: str) -> Learned:
    """What the findings of a probe say."""
    outcomes = {each.assumption.id: _IS_HELD[each.outcome] for each in findings}
    return Learned(outcomes["queue-taken"], outcomes["references"], at, account_mark)


class LearnedFacts:
    """`path_of` returns the file of a connection by its id; it holds what was learned by the name of the model."""

    def __init__(self, path_of: Callable[[str], Path]) -> None:
        self._path_of = path_of
        self._known: dict[str, dict[str, Learned]] = {}

    def of(self, connection_id: str, model: str, account_mark: str) -> Learned:
        """What is known of a model there; nothing when the connection now leads to another account."""
        found = self._of(connection_id).get(model, Learned())
        return found if found.account_mark == account_mark else Learned()

    def keep(self, connection_id: str, model: str, new: Learned) -> Learned:
        """Add what was learned; what was not seen this time stays as it was. For a thread. Raises DataError."""
        old = self.of(connection_id, model, new.account_mark)
        known = replace(
            new,
            queue=old.queue if new.queue is None else new.queue,
            references=old.references if new.references is None else new.references,
        )
        models = {**self._of(connection_id), model: known}
        path = self._path_of(connection_id)
        with suppress(FileExistsError):
            path.parent.mkdir(mode=0o700, exist_ok=True)
        write_own_file(path, msgspec.json.encode(models))
        self._known[connection_id] = models
        return known

    def forget(self, connection_id: str) -> None:
        """Forget all about a connection."""
        self._known.pop(connection_id, None)
        try:
            self._path_of(connection_id).unlink(missing_ok=True)
        except OSError:
            _log.warning("What was learned of a deleted connection could not be deleted.")

    def _of(self, connection_id: str) -> dict[str, Learned]:
        if connection_id not in self._known:
            try:
                self._known[connection_id] = msgspec.json.decode(
                    self._path_of(connection_id).read_bytes(), type=dict[str, Learned]
                )
            except (OSError, ValueError, UserError):  # not there yet, or unreadable
                self._known[connection_id] = {}
        return self._known[connection_id]
