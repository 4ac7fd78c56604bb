"""What the user can undo just now. Notices and pages offer it; Ctrl+Z takes the latest offer."""

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtWidgets import QWidget


@dataclass(frozen=True, slots=True, eq=False)
class Undo:
    """One offer. `words` name the whole command, as a menu does: “Undo archiving “May””."""

    words: str
    act: Callable[[], None]


class Undos(QObject):
    """The offers in the order in which they were made, each to be taken once. `changed`: one came or went."""

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._offers: list[Undo] = []

    def offer(self, words: str, act: Callable[[], None]) -> Undo:
        """Offer to undo what was just done."""
        undo = Undo(words, act)
        self._offers.append(undo)
        self.changed.emit()
        return undo

    def withdraw(self, undo: Undo) -> None:
        """Do not offer this any more; one that is gone already is ignored."""
        if undo in self._offers:
            self._offers.remove(undo)
            self.changed.emit()

    def latest(self) -> Undo | None:
        """What Ctrl+Z would undo."""
        return self._offers[-1] if self._offers else None

    def is_offered(self, undo: Undo) -> bool:
        """Whether it was neither taken nor withdrawn."""
        return undo in self._offers

    def take(self, undo: Undo) -> None:
        """Undo this, unless it is not offered any more."""
        if undo in self._offers:
            self.withdraw(undo)
            undo.act()

    def undo(self) -> None:
        """Undo the latest, if there is any."""
        if self._offers:
            self.take(self._offers[-1])


class PageUndo(QObject):
    """What a page itself can undo: offered while it is possible and the page is visible."""

    def __init__(self, page: QWidget, undos: Undos, words: str, act: Callable[[], None]) -> None:
        super().__init__(page)
        self._page, self._undos, self._words, self._act = page, undos, words, act
        self._undo: Undo | None = None
        self._is_possible = False
        page.installEventFilter(self)

    def show(self, is_possible: bool) -> None:
        """Say whether it is possible; an offer that stands keeps its place in the order."""
        self._is_possible = is_possible
        self._offer(is_possible and self._page.isVisible())

    def renew(self, is_possible: bool) -> None:
        """The same, with the offer as the latest: something was done just now."""
        self._offer(False)
        self.show(is_possible)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Show, QEvent.Type.Hide):
            self._offer(self._is_possible and event.type() == QEvent.Type.Show)
        return False

    def _offer(self, is_offered: bool) -> None:
        stands = self._undo is not None and self._undos.is_offered(self._undo)
        if is_offered and not stands:
            self._undo = self._undos.offer(self._words, self._act)
        elif self._undo is not None and not is_offered:
            self._undos.withdraw(self._undo)
