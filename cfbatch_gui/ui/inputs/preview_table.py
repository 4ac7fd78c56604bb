"""The first rows of a file, as they will be read, with the columns' roles above them."""

from collections.abc import Sequence

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from cfbatch_gui.core.inputs.model import Role, Row, Source
from cfbatch_gui.ui import words
from cfbatch_gui.ui.cells import CELL_MARGIN
from cfbatch_gui.ui.inputs.draft_state import OpenFile
from cfbatch_gui.ui.inputs.role_header import RoleHeader
from cfbatch_gui.ui.rows import Column, Rows
from cfbatch_gui.ui.tables import TableView

PREVIEW_ROW_HEIGHT = 34
_NARROWEST, _WIDEST = 110, 230  # pixels of a column that nobody has resized
_MEASURED = 40  # rows
_MEASURED_COLUMNS = 100  # the rest of a very wide file has the usual width
_SLACK = 8
_LONGEST = 120  # characters that are measured


class PreviewTable(TableView):
    """Shows `OpenFile`s. `role_chosen` brings a column, from 0, and the role that the user wants for it."""

    role_chosen = Signal(int, object)
    join_wanted = Signal(int)

    def __init__(self, *, fewest_rows: int = 2, parent: QWidget | None = None) -> None:
        super().__init__(inset=True, parent=parent)
        self._fewest = fewest_rows
        self._shown: OpenFile | None = None
        self._widths: list[int] = []
        self._was_resized = False  # by hand
        self._is_fitting = False
        self._roles: tuple[Role, ...] = ()
        self.roles = RoleHeader(self)
        self.setHorizontalHeader(self.roles)
        self.roles.role_chosen.connect(self.role_chosen)
        self.roles.join_wanted.connect(self.join_wanted)
        self.roles.sectionResized.connect(self._resized)
        self.roles.setDefaultSectionSize(_NARROWEST)
        self.verticalHeader().setDefaultSectionSize(PREVIEW_ROW_HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName(self.tr("Preview of the first rows"))

    def show_file(
        self,
        file: OpenFile,
        roles: tuple[Role, ...] = (),
        choices: tuple[Role, ...] = (),
        joined: frozenset[int] = frozenset(),
    ) -> None:
        """Show the first rows; without roles the header has names only. `joined` columns are the text together."""
        is_other = self._shown is None or (self._shown.source, self._shown.sample) != (file.source, file.sample)
        roles_changed = roles != self._roles
        self._roles = roles
        if is_other:
            is_longer = self._shown is not None and self._shown.source == file.source
            place, was_resized = self.verticalScrollBar().value(), self._was_resized
            self._shown = file
            self._was_resized = False
            self.setSortingEnabled(False)
            self._is_fitting = True
            self.show_rows(Rows(_columns(file.source, self), file.sample, parent=self))
            self._is_fitting = False
            self._widths = self._measure(file.sample, file.source)
            self._fit()
            if is_longer:
                self._was_resized = was_resized
                self.verticalScrollBar().setValue(place)
        self.roles.set_roles(roles, choices, joined)
        if roles_changed:
            self.viewport().update()
        self.updateGeometry()

    def role_of(self, column: int) -> Role | None:
        """What the column is for."""
        return self._roles[column] if column < len(self._roles) else None

    def sizeHint(self) -> QSize:
        # As little as will do: a page that scrolls asks for this height, one with room to spare gives more.
        rows = len(self._shown.sample) if self._shown else self._fewest
        return QSize(200, self._height_of(min(rows, self._fewest)))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _height_of(self, rows: int) -> int:
        bar = self.horizontalScrollBar().sizeHint().height() if self.horizontalScrollBar().maximum() else 0
        return self.roles.height() + rows * PREVIEW_ROW_HEIGHT + bar + 1

    def _measure(self, sample: Sequence[Row], source: Source) -> list[int]:
        metrics = self.fontMetrics()
        widths = []
        for index, name in enumerate(source.columns[:_MEASURED_COLUMNS]):
            texts = [words.one_line(row.cells[index], _LONGEST) for row in sample[:_MEASURED]]
            widest = max((metrics.horizontalAdvance(text) for text in texts), default=0)
            wanted = max(widest + 2 * CELL_MARGIN + _SLACK, metrics.horizontalAdvance(name[:40]) + CELL_MARGIN)
            widths.append(max(_NARROWEST, wanted))
        return widths

    def _fit(self) -> None:
        """Give each column what it needs up to a bound, and what is left over to those that could use more."""
        if self._was_resized or not self._widths:
            return
        others = len(self.columns()) - len(self._widths)
        room = self.viewport().width() - others * self.roles.defaultSectionSize()
        widths = [min(width, _WIDEST) for width in self._widths]
        spare = room - sum(widths)
        if spare > 0:
            wants = [wanted - width for wanted, width in zip(self._widths, widths, strict=True)]
            total = sum(wants)
            if total:
                widths = [
                    width + round(min(spare, total) * want / total) for width, want in zip(widths, wants, strict=True)
                ]
            widths[max(range(len(widths)), key=widths.__getitem__)] += room - sum(widths)
        self._is_fitting = True
        for section, width in enumerate(widths):
            self.roles.resizeSection(section, width)
        self._is_fitting = False

    def _resized(self) -> None:
        if not self._is_fitting and self._shown is not None and self.roles.underMouse():
            self._was_resized = True


def _columns(source: Source, table: PreviewTable) -> list[Column[Row]]:
    return [_column(index, name, table) for index, name in enumerate(source.columns)]


def _column(index: int, name: str, table: PreviewTable) -> Column[Row]:
    def colour(row: Row) -> str:
        return "quiet" if row.problem or table.role_of(index) is Role.IGNORE else ""

    def icon(row: Row) -> tuple[str, str] | None:
        return ("triangle-alert", "attention") if row.problem and index == 0 else None

    return Column(
        name,
        lambda row: row.cells[index],
        key=str(index),
        sortable=False,
        colour=colour,
        icon=icon,
    )
