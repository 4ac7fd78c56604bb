"""The first rows of a file, as they will be read, with the columns' roles above them."""

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from cfbatch_gui.core.inputs.input_values import Role, Row, Source
from cfbatch_gui.core.inputs.items import is_sent
from cfbatch_gui.ui import display
from cfbatch_gui.ui.inputs.draft_state import OpenFile
from cfbatch_gui.ui.inputs.role_header import RoleHeader
from cfbatch_gui.ui.tables.cells import CELL_MARGIN
from cfbatch_gui.ui.tables.table_rows import Column, Rows
from cfbatch_gui.ui.tables.table_view import TableView
from cfbatch_gui.ui.theme import scaled

PREVIEW_ROW_HEIGHT = 34
_USUAL = 110  # pixels of a column that is not measured
_LEAST, _COMFORTABLE = 120, 230  # pixels of a column that is cut: least without scrolling, and with it
_NAME = 160  # a longer name does not make its column wider
_PROBLEM_ICON = 22
_MEASURED = 40  # rows
_MEASURED_COLUMNS = 100  # the rest of a very wide file has the usual width
_SLACK = 8
_LONGEST = 120  # characters that are measured


class PreviewTable(TableView):
    """Shows the first rows of an `OpenFile`. `role_chosen` carries a column's index and its new role."""

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
        self.roles.setDefaultSectionSize(scaled(_USUAL))
        self.verticalHeader().setDefaultSectionSize(scaled(PREVIEW_ROW_HEIGHT))
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
            is_longer = self._shown is not None and _is_same(self._shown.source, file.source)
            scrolled, was_resized = self.verticalScrollBar().value(), self._was_resized
            self._shown = file
            self._was_resized = False
            self.setSortingEnabled(False)
            self._is_fitting = True
            self.show_rows(Rows(_columns(file.source, self), file.sample, parent=self))
            self._is_fitting = False
            self._widths = self._measure(file.sample, file.source)
        self.roles.set_roles(roles, choices, joined)
        self._fit()
        if is_other and is_longer:
            self._was_resized = was_resized
            self.verticalScrollBar().setValue(scrolled)
        if roles_changed:
            self.viewport().update()
        self.updateGeometry()

    def role_of(self, column: int) -> Role | None:
        """The role of a column, None for a table without roles."""
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
        return self.roles.height() + rows * scaled(PREVIEW_ROW_HEIGHT) + bar + 1

    def _measure(self, sample: Sequence[Row], source: Source) -> list[int]:
        """The width of each column that shows its cells and its name whole, in pixels."""
        metrics = self.fontMetrics()
        widths = []
        for index, name in enumerate(source.columns[:_MEASURED_COLUMNS]):
            texts = [display.one_line(row.cells[index], _LONGEST) for row in sample[:_MEASURED]]
            widest = max((metrics.horizontalAdvance(text) for text in texts), default=0)
            named = min(metrics.horizontalAdvance(name[:_LONGEST]), _NAME)
            widths.append(max(widest + 2 * CELL_MARGIN + _SLACK, named + CELL_MARGIN))
        if any(row.problem for row in sample):
            widths[0] += _PROBLEM_ICON
        return widths

    def _fit(self) -> None:
        """Give each column what it wants, and what is left over to the text; where there is too little, short columns
        have what they want and long ones the same."""
        if self._was_resized or not self._widths:
            return
        others = len(self.columns()) - len(self._widths)
        room = self.viewport().width() - others * self.roles.defaultSectionSize()
        wanted = [max(width, self.roles.wanted_width(index)) for index, width in enumerate(self._widths)]
        most = _most_for_each(wanted, room)
        widths = [min(width, most if most >= _LEAST else _COMFORTABLE) for width in wanted]
        if (rest := room - sum(widths)) > 0:
            widths[self._text_column(widths)] += rest
        self._is_fitting = True
        for section, width in enumerate(widths):
            self.roles.resizeSection(section, width)
        self._is_fitting = False

    def _text_column(self, widths: Sequence[int]) -> int:
        """The index of the widest column with texts that are sent, else of the widest column."""

        def says(index: int) -> tuple[bool, int, int]:
            return self.role_of(index) in (Role.TEXT, Role.CONTEXT), widths[index], index

        return max(range(len(widths)), key=says)

    def _resized(self) -> None:
        if not self._is_fitting and self._shown is not None and self.roles.underMouse():
            self._was_resized = True


def _most_for_each(wanted: Sequence[int], room: int) -> int:
    """The most that a column may have so that all of them have room; no less than the widest wants where all fit."""
    for index, width in enumerate(sorted(wanted)):
        share = room // (len(wanted) - index)
        if width > share:
            return share
        room -= width
    return max(wanted)


def _columns(source: Source, table: PreviewTable) -> list[Column[Row]]:
    return [_column(index, name, source, table) for index, name in enumerate(source.columns)]


def _is_same(one: Source, other: Source) -> bool:
    """Whether the same rows are read, whichever of them are sent."""
    return replace(one, sends_doubtful=other.sends_doubtful) == other


def _column(index: int, name: str, source: Source, table: PreviewTable) -> Column[Row]:
    def colour(row: Row) -> str:
        return "quiet" if not is_sent(row, source) or table.role_of(index) is Role.IGNORE else ""

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
