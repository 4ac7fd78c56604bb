"""The first rows of a file, as they will be read, with the columns' roles above them."""

from functools import partial
from typing import Any

from PySide6.QtCore import QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QAccessible, QFocusEvent, QFont, QKeyEvent, QPainter, QPen
from PySide6.QtWidgets import QHeaderView, QMenu, QSizePolicy, QStyle, QTableView, QWidget

from cfbatch_gui.core.inputs.input_values import Role, Row, Source
from cfbatch_gui.core.inputs.items import is_sent
from cfbatch_gui.core.messages import message
from cfbatch_gui.ui import icons, theme
from cfbatch_gui.ui.inputs.draft_state import OpenFile
from cfbatch_gui.ui.tables.cells import CELL_MARGIN
from cfbatch_gui.ui.tables.table_rows import Column, Rows
from cfbatch_gui.ui.tables.table_view import TableView
from cfbatch_gui.ui.theme import scaled
from cfbatch_gui.ui.widgets import add_action
from cfbatch_gui.ui.widgets.keyboard import KeyboardRing
from cfbatch_gui.words import figures
from cfbatch_gui.words.languages import said, tr

_NAME_HEIGHT, _CHIP_HEIGHT, _BELOW = 22, 26, 6
_GAP = 4  # between two chips
_ICON = 14
_BESIDE_WORDS = 2 * _ICON + 22  # of a chip: its icon, its arrow, and the room around them
_NARROWEST = 64


ROLES = {
    Role.QUERY: ("circle-help", message("query"), message("what_is_asked")),
    Role.CONTEXT: ("text-align-start", message("context"), message("ranked_against_query")),
    Role.TEXT: ("text-align-start", message("text"), message("becomes_vector")),
    Role.ID: ("tag", message("id"), message("names_row_results")),
    Role.QUERY_ID: ("tag", message("query_id"), message("names_query_results")),
    Role.LABEL: ("star", message("label"), message("judgement_or_class_not_sent")),
    Role.KEEP: ("bookmark", message("keep"), message("not_sent_but_results_again")),
    Role.IGNORE: ("eye-off", message("leave_out"), message("neither_sent_nor_results")),
}
"""Icon, name and meaning of each role."""


class RoleHeader(KeyboardRing, QHeaderView):
    """Click a column, or press Space on it, for the menu of roles; arrow keys go from column to column."""

    accessible_role = QAccessible.Role.ButtonMenu  # Qt takes a header by itself for a table
    role_chosen = Signal(int, object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.shown: tuple[Role, ...] = ()
        self._names: list[str] = []
        self._looks: list[tuple[str, str, bool]] = []  # icon, words, and whether the column is used
        self._current = 0
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setFixedHeight(scaled(_NAME_HEIGHT + _CHIP_HEIGHT) + _BELOW)
        self.setSectionsClickable(True)
        self.setHighlightSections(False)
        self.setMinimumSectionSize(scaled(_NARROWEST))
        self.sectionClicked.connect(self.open_menu)

    def set_roles(self, roles: dict[str, Role], choices: tuple[Role, ...], joined: frozenset[int]) -> None:
        """`roles` are those of all columns by name; the columns in `joined` are the text together."""
        self._names, self.shown, self._choices = list(map(figures.one_line, roles)), tuple(roles.values()), choices
        self._looks = [_look(role, at in joined, has_joined=bool(joined)) for at, role in enumerate(self.shown)]
        self._current = min(self._current, len(roles) - 1)
        self._describe()
        self.viewport().update()

    def chip(self, section: int) -> QRect:
        left, width = self.sectionViewportPosition(section), self.sectionSize(section)
        return QRect(left, scaled(_NAME_HEIGHT), width - _GAP, scaled(_CHIP_HEIGHT))

    def wanted_width(self, section: int) -> int:
        return self.fontMetrics().horizontalAdvance(self._looks[section][1]) + _BESIDE_WORDS + _GAP + 1

    def open_menu(self, section: int) -> None:
        self._current = section
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for role in self._choices:
            icon, name, meaning = ROLES[role]
            text = self.tr("{role} – {meaning}").format(role=said(name), meaning=said(meaning))
            action = add_action(menu, text, partial(self.role_chosen.emit, section, role), icon)
            action.setData(role)
            if role is self.shown[section]:
                font = QFont(action.font())
                font.setWeight(QFont.Weight.DemiBold)
                action.setFont(font)
                menu.setActiveAction(action)
        menu.popup(self.viewport().mapToGlobal(self.chip(section).bottomLeft() + QPoint(0, 3)))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()), 0)
        self.has_ring = True
        if step:
            self._current = max(0, min(len(self.shown) - 1, self._current + step))
            table = self.parentWidget()
            if isinstance(table, QTableView):
                table.scrollTo(table.model().index(table.rowAt(0), self._current))
            self._describe()
            self.viewport().update()
        elif event.key() in (Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Down):
            self.open_menu(self._current)
        else:
            event.ignore()

    def focusInEvent(self, event: QFocusEvent) -> None:
        has_ring = self.has_ring
        super().focusInEvent(event)
        if event.reason() is Qt.FocusReason.PopupFocusReason:
            self.has_ring = has_ring

    def _describe(self) -> None:
        pattern = self.tr("Column {name}: {role}")
        words = [pattern.format(name=name, role=look[1]) for name, look in zip(self._names, self._looks, strict=True)]
        self.setAccessibleName(words[self._current])
        self.setAccessibleDescription("; ".join(words))

    # Painting

    def paintSection(self, painter: QPainter, rect: QRect, section: int) -> None:
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        small = QFont(self.font())
        small.setPixelSize(max(9, self.fontInfo().pixelSize() - 1))
        painter.setFont(small)
        box = QRect(rect.left(), rect.top(), rect.width() - CELL_MARGIN, scaled(_NAME_HEIGHT) - 2)
        _paint_words(painter, box, self._names[section], "quiet")
        painter.setFont(self.font())
        self._paint_chip(painter, self.chip(section), section)
        painter.restore()

    def _paint_chip(self, painter: QPainter, chip: QRect, section: int) -> None:
        icon, words, is_used = self._looks[section]
        has_ring = self.has_ring and self.hasFocus() and section == self._current
        painter.setPen(QPen(theme.colour("accent"), 2) if has_ring else Qt.PenStyle.NoPen)
        painter.setBrush(theme.colour("selection" if is_used else "hover"))
        painter.drawRoundedRect(chip.adjusted(1, 1, -1, -1) if has_ring else chip, 4, 4)
        middle = chip.center().y() - _ICON // 2 + 1
        for left, name, role in (
            (chip.left() + 8, icon, "accent" if is_used else "quiet"),
            (chip.right() - _ICON - 5, "chevron-down", "quiet"),
        ):
            place = QStyle.visualRect(self.layoutDirection(), chip, QRect(left, middle, _ICON, _ICON))
            icons.paint_icon(painter, place, name, role)
        box = QRect(chip.left() + 8 + _ICON + 5, chip.top(), chip.width() - _BESIDE_WORDS, chip.height())
        box = QStyle.visualRect(self.layoutDirection(), chip, box)
        _paint_words(painter, box, words, "text" if is_used else "quiet")


def _look(role: Role, is_joined: bool, *, has_joined: bool) -> tuple[str, str, bool]:
    if is_joined and role in (Role.TEXT, Role.CONTEXT, Role.KEEP, Role.IGNORE):
        return "layers", tr("Joined"), True
    if has_joined and role in (Role.TEXT, Role.CONTEXT):
        role = Role.KEEP
    return ROLES[role][0], said(ROLES[role][1]), role not in (Role.KEEP, Role.IGNORE)


def _paint_words(painter: QPainter, box: QRect, words: str, role: str) -> None:
    painter.setPen(theme.colour(role))
    shown = painter.fontMetrics().elidedText(words, Qt.TextElideMode.ElideRight, box.width())
    painter.drawText(box, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, shown)


PREVIEW_ROW_HEIGHT = 34
_MOST = 280  # pixels of a column, but for the text, which has the rest of the room
_LEAST = 110  # pixels of a column in a narrow window
_MEASURED = 40  # rows
_MEASURED_COLUMNS = 100  # the rest of a very wide file has the usual width
_LONGEST = 60  # characters that are measured


class PreviewTable(TableView):
    """As high as its rows, up to some; `row_height`, and `least`, of a column in a narrow window, are in pixels."""

    def __init__(self, *, row_height: int = PREVIEW_ROW_HEIGHT, least: int = _LEAST) -> None:
        super().__init__(title=tr("Preview of the first rows"), inset=True)
        self._most, self._row_height, self._least = 5, row_height, least
        self._shown: tuple[OpenFile, tuple[Role, ...]] | None = None
        self.roles = RoleHeader(self)
        self.setHorizontalHeader(self.roles)
        self.verticalHeader().setDefaultSectionSize(scaled(row_height))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.horizontalScrollBar().rangeChanged.connect(lambda *_: self.updateGeometry())

    def show_file(
        self, file: OpenFile, roles: tuple[Role, ...], choices: tuple[Role, ...], joined: frozenset[int]
    ) -> None:
        before, self._shown = self._shown, (file, roles)
        scrolled = self.verticalScrollBar().value()
        self.roles.set_roles(dict(zip(file.columns, roles, strict=True)), choices, joined)
        if before is None or (before[0].source, before[0].sample, before[1]) != (file.source, file.sample, roles):
            self.show_rows(Rows(self._columns_of(file, roles), file.sample, parent=self))
            if before is not None and before[0].path == file.path:
                self.verticalScrollBar().setValue(scrolled)
        self.viewport().update()
        self.set_most_rows(self._most)

    def set_most_rows(self, most: int) -> None:
        self._most = most
        is_more = self._shown is not None and len(self._shown[0].sample) > most
        policy = Qt.ScrollBarPolicy.ScrollBarAlwaysOn if is_more else Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        self.setVerticalScrollBarPolicy(policy)  # it takes its width before the columns are laid out
        self.updateGeometry()

    def role_of(self, column: int) -> Role | None:
        return self.roles.shown[column] if column < len(self.roles.shown) else None

    def sizeHint(self) -> QSize:
        rows = min(self._most, len(self._shown[0].sample) if self._shown else 0)
        bar = self.horizontalScrollBar().sizeHint().height() if self.horizontalScrollBar().maximum() else 0
        return QSize(200, self.roles.height() + rows * scaled(self._row_height) + bar + 1)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def _usual_width(self, column: Column[Any]) -> int:
        return max(
            min(super()._usual_width(column), scaled(_MOST)), self.roles.wanted_width(self.columns().index(column))
        )

    def _columns_of(self, file: OpenFile, roles: tuple[Role, ...]) -> list[Column[Row]]:
        """The text has the room that is left; without one the column with the longest cells."""
        measured = [
            [figures.one_line(row.cells[index], _LONGEST) for row in file.sample[:_MEASURED]]
            for index in range(min(len(file.columns), _MEASURED_COLUMNS))
        ]
        is_text = [role in (Role.TEXT, Role.CONTEXT) for role in roles]
        longest = [max(map(len, cells), default=0) for cells in measured]
        widest = max(range(len(measured)), key=lambda index: (is_text[index], longest[index]), default=0)
        return [
            Column(
                name,
                partial(_cell, index),
                sortable=False,
                width=self._least,
                least=self._least,
                stretch=index == widest,
                widest=measured[index] if index < len(measured) else (),
                colour=partial(self._colour, file.source, index),
                icon=_problem_icon if index == 0 else None,
            )
            for index, name in enumerate(file.columns)
        ]

    def _colour(self, source: Source, index: int, row: Row) -> str:
        return "quiet" if not is_sent(row, source) or self.role_of(index) is Role.IGNORE else ""


def _cell(index: int, row: Row) -> str:
    return row.cells[index]


def _problem_icon(row: Row) -> tuple[str, str] | None:
    return ("triangle-alert", "attention") if row.problem else None
