"""The header of the preview: the name of each column, and below it a chip with its role, which opens a menu."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QEvent, QPoint, QRect, Qt, Signal
from PySide6.QtGui import QAccessible, QFocusEvent, QFont, QKeyEvent, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QHeaderView, QMenu, QStyle, QTableView, QWidget

from cfbatch_gui.core.inputs.input_values import Role
from cfbatch_gui.ui import display, icons, theme
from cfbatch_gui.ui.inputs.input_labels import ROLE_ICONS, role_explained, role_words
from cfbatch_gui.ui.tables.cells import CELL_MARGIN
from cfbatch_gui.ui.theme import scaled
from cfbatch_gui.ui.widgets import add_action
from cfbatch_gui.ui.widgets.keyboard import came_by_keyboard

_NAME_HEIGHT, _CHIP_HEIGHT, _BELOW = 24, 24, 6
_GAP = 4  # between two chips
_GRIP = 4  # pixels at a section's edge that resize it
_ICON = 14
_BESIDE_WORDS = 2 * _ICON + 22  # of a chip: its icon, its arrow, and the room around them
_NARROWEST = 64


class RoleHeader(QHeaderView):
    """Click a role, or press Space on it, for the menu of roles; arrow keys go from column to column.

    `join_wanted` carries the index of a column that is to be joined with others to one text.
    """

    accessible_role = QAccessible.Role.ButtonMenu  # Qt takes a header by itself for a table
    role_chosen = Signal(int, object)
    join_wanted = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._roles: tuple[Role, ...] = ()
        self._choices: tuple[Role, ...] = ()
        self._joined: frozenset[int] = frozenset()
        self._current = 0
        self._pressed = -1
        self._hovered = -1
        self.has_ring = False  # after a key gave it the focus
        self.setSectionsClickable(True)
        self.setHighlightSections(False)
        self.setMinimumSectionSize(scaled(_NARROWEST))
        self.setFixedHeight(scaled(_NAME_HEIGHT + _CHIP_HEIGHT) + _BELOW)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.viewport().setMouseTracking(True)
        self._describe()

    def set_roles(
        self, roles: tuple[Role, ...], choices: tuple[Role, ...], joined: frozenset[int] = frozenset()
    ) -> None:
        """Show the role of each column; `choices` are those that may be chosen. () for a table without roles.

        The columns in `joined` are the text together; no other one is then.
        """
        self._roles, self._choices, self._joined = roles, choices, joined
        self._current = min(self._current, max(0, len(roles) - 1))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus if roles else Qt.FocusPolicy.NoFocus)
        self.setFixedHeight(scaled(_NAME_HEIGHT + (_CHIP_HEIGHT if roles else 0)) + _BELOW)
        self._describe()
        self.viewport().update()

    def chip(self, section: int) -> QRect:
        """The rectangle of a column's role, in coordinates of the viewport."""
        left, width = self.sectionViewportPosition(section), self.sectionSize(section)
        return QRect(left, scaled(_NAME_HEIGHT), width - _GAP, scaled(_CHIP_HEIGHT))

    def wanted_width(self, section: int) -> int:
        """The width of a column's role without eliding, in pixels."""
        if section >= len(self._roles):
            return 0
        return self.fontMetrics().horizontalAdvance(self._look(section)[1]) + _BESIDE_WORDS + _GAP + 1

    def open_menu(self, section: int) -> QMenu:
        """The roles of a column, with the present one ticked."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for role in self._choices:
            text = self.tr("{role} – {meaning}").format(role=role_words(role), meaning=role_explained(role))
            choose = self._choice(section, role)
            action = add_action(menu, text, choose, ROLE_ICONS[role])
            action.setData(role)
            if role is self._roles[section]:
                font = QFont(action.font())
                font.setWeight(QFont.Weight.DemiBold)
                action.setFont(font)
                menu.setActiveAction(action)
        if len(self._roles) > 1 and {Role.TEXT, Role.CONTEXT} & set(self._choices):
            menu.addSeparator()
            join = partial(self.join_wanted.emit, section)
            add_action(menu, self.tr("Join several columns to one text…"), join, "layers")
        menu.popup(self.viewport().mapToGlobal(self.chip(section).bottomLeft() + QPoint(0, 3)))
        return menu

    def _choice(self, section: int, role: Role) -> Callable[[], None]:
        return lambda: self.role_chosen.emit(section, role)

    # Mouse and keyboard

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._pressed = self._chip_at(event.position().toPoint())
        if self._pressed >= 0 and event.button() == Qt.MouseButton.LeftButton:
            self._current = self._pressed
            self.has_ring = False
            self.viewport().update()
        else:
            super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        pressed, self._pressed = self._pressed, -1
        if pressed < 0 or event.button() != Qt.MouseButton.LeftButton:
            super().mouseReleaseEvent(event)
        elif self._chip_at(event.position().toPoint()) == pressed:
            self.open_menu(pressed)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        hovered = self._chip_at(event.position().toPoint())
        if hovered != self._hovered:
            self._hovered = hovered
            self.viewport().update()
        if self._pressed < 0:
            super().mouseMoveEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        self._hovered = -1
        self.viewport().update()
        super().leaveEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()), 0)
        self.has_ring = True
        if step and self._roles:
            self._current = max(0, min(len(self._roles) - 1, self._current + step))
            self._reveal(self._current)
            self._describe()
            self.viewport().update()
        elif self._roles and event.key() in (Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Down):
            self.open_menu(self._current)
        else:
            event.ignore()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if event.reason() is not Qt.FocusReason.PopupFocusReason:
            self.has_ring = came_by_keyboard(event)
        self._describe()
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.viewport().update()

    def _chip_at(self, position: QPoint) -> int:
        section = self.logicalIndexAt(position)
        if not 0 <= section < len(self._roles) or position.y() < scaled(_NAME_HEIGHT):
            return -1
        return section if self.chip(section).adjusted(0, 0, -_GRIP, _BELOW).contains(position) else -1

    def _reveal(self, section: int) -> None:
        table = self.parentWidget()
        if isinstance(table, QTableView):
            table.scrollTo(table.model().index(table.rowAt(0), section))

    def _describe(self) -> None:
        """The column that the keys act on is the name, all columns are the description."""
        words = [
            self.tr("Column {name}: {role}").format(name=self._column(section), role=self._look(section)[1])
            for section in range(len(self._roles))
        ]
        self.setAccessibleName(words[self._current] if words else self.tr("What each column is for"))
        self.setAccessibleDescription("; ".join(words))

    def _column(self, section: int) -> str:
        return display.one_line(str(self.model().headerData(section, self.orientation()) or ""))

    # Painting

    def _look(self, section: int) -> tuple[str, str, bool]:
        """Icon and words of a column's role, and whether it is more than kept."""
        role = self._roles[section]
        if section in self._joined and role in (Role.TEXT, Role.CONTEXT, Role.KEEP, Role.IGNORE):
            return "layers", self.tr("Joined"), True
        if self._joined and role in (Role.TEXT, Role.CONTEXT):
            role = Role.KEEP
        return ROLE_ICONS[role], role_words(role), role not in (Role.KEEP, Role.IGNORE)

    def paintSection(self, painter: QPainter, rect: QRect, section: int) -> None:
        painter.save()
        font = QFont(self.font())
        font.setPixelSize(max(9, self.fontInfo().pixelSize() - 1))
        painter.setFont(font)
        painter.setPen(theme.colour("quiet"))
        name = self._column(section)
        box = QRect(rect.left(), rect.top(), rect.width() - CELL_MARGIN, scaled(_NAME_HEIGHT) - 2)
        shown = painter.fontMetrics().elidedText(name, Qt.TextElideMode.ElideRight, box.width())
        painter.drawText(box, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, shown)
        if section < len(self._roles):
            chip = QRect(rect.left(), rect.top() + scaled(_NAME_HEIGHT), rect.width() - _GAP, scaled(_CHIP_HEIGHT))
            self._paint_chip(painter, chip, section)
        else:
            painter.fillRect(QRect(rect.left(), rect.bottom(), rect.width(), 1), theme.colour("line"))
        painter.restore()

    def _paint_chip(self, painter: QPainter, chip: QRect, section: int) -> None:
        icon, words_shown, is_used = self._look(section)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        back = theme.colour("selection" if is_used else "hover")
        painter.setBrush(theme.mixed(theme.colour("accent"), back, 0.1) if section == self._hovered else back)
        painter.drawRoundedRect(chip, 4, 4)
        if self.has_ring and self.hasFocus() and section == self._current:
            painter.setPen(QPen(theme.colour("accent"), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(chip.adjusted(1, 1, -1, -1), 4, 4)
        middle = chip.center().y() - _ICON // 2 + 1
        direction = self.layoutDirection()
        before, after = (QRect(left, middle, _ICON, _ICON) for left in (chip.left() + 8, chip.right() - _ICON - 5))
        icons.paint_icon(painter, QStyle.visualRect(direction, chip, before), icon, "accent" if is_used else "quiet")
        icons.paint_icon(painter, QStyle.visualRect(direction, chip, after), "chevron-down", "quiet")
        painter.setFont(self.font())
        painter.setPen(theme.colour("text" if is_used else "quiet"))
        box = QRect(chip.left() + 8 + _ICON + 5, chip.top(), chip.width() - _BESIDE_WORDS, chip.height())
        word = painter.fontMetrics().elidedText(words_shown, Qt.TextElideMode.ElideRight, box.width())
        left = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(QStyle.visualRect(direction, chip, box), left, word)
