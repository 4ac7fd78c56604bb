"""Decide which fault of a script affects which exchange."""

from collections.abc import Sequence
from dataclasses import dataclass

from cfbatch_gui.core.practice.faults.script import AnyFault, ConnectionFault, Kind, Refuse, ReplyFault


@dataclass(slots=True)
class _Waiting:
    """A fault, with the number of exchanges that it fits so far (`offered`) and that it has affected (`hit`)."""

    fault: AnyFault
    offered: int = 0
    hit: int = 0

    @property
    def is_used_up(self) -> bool:
        most = 1 if isinstance(self.fault, Refuse) else self.fault.times
        return 0 < most <= self.hit

    def fits(self, kinds: frozenset[Kind]) -> bool:
        return not self.is_used_up and (self.fault.on == "any" or self.fault.on in kinds)

    def takes(self) -> bool:
        """Count an exchange that fits, and return whether the fault affects it."""
        self.offered += 1
        if self.offered < self.fault.number:
            return False
        self.hit += 1
        return True


class Plan:
    """The faults of a script, in order, and how often each has happened."""

    def __init__(self, faults: Sequence[AnyFault]) -> None:
        waiting = [_Waiting(fault) for fault in faults]
        self._refusals = [each for each in waiting if isinstance(each.fault, Refuse)]
        self._connections = [
            each for each in waiting if isinstance(each.fault, ConnectionFault) and each not in self._refusals
        ]
        self._exchanges = [each for each in waiting if not isinstance(each.fault, ConnectionFault)]

    @property
    def waits_for_connections(self) -> bool:
        """Whether a fault at a connection is still to happen; then connections must not be kept alive."""
        return not all(each.is_used_up for each in (*self._refusals, *self._connections))

    def refusal(self, kinds: frozenset[Kind]) -> Refuse | None:
        """Return the fault that closes the listener before the next connection, None for none."""
        for each in self._refusals:
            fault = each.fault
            if isinstance(fault, Refuse) and each.fits(kinds) and each.offered + 1 >= fault.number:
                each.hit += 1
                return fault
        return None

    def at_connection(self, kinds: frozenset[Kind]) -> AnyFault | None:
        """Return the fault that affects a new connection for one of these kinds, None for none."""
        for each in self._refusals:
            each.offered += each.fits(kinds)
        return next((each.fault for each in self._connections if each.fits(kinds) and each.takes()), None)

    def needs_batch(self, kind: Kind) -> bool:
        """Return whether the choice depends on the batch, so that the whole body must be received first."""
        return any(_batch_of(each.fault) and each.fits(frozenset({kind})) for each in self._exchanges)

    def at_exchange(self, kind: Kind, batch: str) -> AnyFault | None:
        """Return the fault that affects an exchange, or None. `batch` is the hash of its batch's body, or ""."""
        kinds = frozenset({kind})
        for each in self._exchanges:
            if each.fits(kinds) and _batch_of(each.fault) in ("", batch) and each.takes():
                return each.fault
        return None


def _batch_of(fault: AnyFault) -> str:
    return fault.sha256 if isinstance(fault, ReplyFault) else ""
