"""Bars of a page: its header, tabs, notices and progress, and files dragged from a line that names them."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from PySide6 import QtGui
from PySide6.QtCore import QEvent, QMimeData, QObject, QRectF, QSize, Qt, QUrl, Signal
from PySide6.QtGui import QDropEvent, QFont, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QMenu, QProgressBar, QSizePolicy, QStyle, QTabBar, QWidget

from cfbatch_gui.ui import icons, theme
from cfbatch_gui.ui.theme import LARGE, MEDIUM, SMALL, WIDE, scaled
from cfbatch_gui.ui.widgets.box_layouts import Flow, boxed, column, discard, row
from cfbatch_gui.ui.widgets.buttons import Button, IconButton, LinkButton, MoreButton, add_action
from cfbatch_gui.ui.widgets.keyboard import KeyboardRing, follow_in_tab_order
from cfbatch_gui.ui.widgets.labels import ElidedLabel, IconLabel, Label, StateLabel, restyle
from cfbatch_gui.words.states import Role

_ICON = 32  # pixels


class FileDrag(QObject):
    """Lets files be dragged by the mouse from a widget, as copies; those that are gone are left out."""

    def __init__(self, widget: QWidget, paths: Sequence[Path]) -> None:
        super().__init__(widget)
        self._widget, self._paths = widget, tuple(paths)
        widget.setCursor(Qt.CursorShape.OpenHandCursor)
        widget.setToolTip(self.tr("Drag it to a folder, the desktop or a mail"))
        widget.installEventFilter(self)

    def content(self) -> QMimeData:
        held = QMimeData()
        held.setUrls([QUrl.fromLocalFile(str(path)) for path in self._paths if path.exists()])
        return held

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.MouseMove:  # which comes while a button is pressed
            self._drag()
        return event.type() in (QEvent.Type.MouseMove, QEvent.Type.MouseButtonPress)

    def _drag(self) -> None:
        content = self.content()
        if not content.hasUrls():
            return
        drag = QtGui.QDrag(self._widget.window())  # the line itself may go while it lasts
        drag.setMimeData(content)
        drag.setPixmap(icons.icon("file-text").pixmap(_ICON, _ICON))
        drag.exec(Qt.DropAction.CopyAction)  # a nested loop, in which tasks go on: this is an event, and no coroutine


def local_files(mime: QMimeData) -> list[Path]:
    return [Path(url.toLocalFile()) for url in mime.urls() if url.isLocalFile()]


def take_copy(event: QDropEvent) -> None:
    """Accept a drop as a copy: after a move the source may delete what was dragged."""
    event.setDropAction(Qt.DropAction.CopyAction)
    event.accept()


class DropOverlay(QFrame):
    """Covers a page while something is dragged over it, and says what dropping it does."""

    def __init__(self, over: QWidget, text: str) -> None:
        super().__init__(over)
        self._over = over
        self.setProperty("kind", "drop")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        words = Label(text, wrap=True)
        words.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.setLayout(column(None, row(None, IconLabel("file-up", "accent", 28), None), words, None))
        self.hide()

    def cover(self) -> None:
        self.setGeometry(self._over.rect())
        self.raise_()
        self.show()


class DropTarget(QWidget):
    """A part of a page that may take dropped files, folders and texts."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._veil: DropOverlay | None = None

    def take_drops(self, over: QWidget, words: str, on_dropped: Callable[[Sequence[Path] | str], object]) -> None:
        """`words` say over a part of it what dropping does."""
        self._veil, self._on_dropped = DropOverlay(over, words), on_dropped
        self.setAcceptDrops(True)

    def dragEnterEvent(self, event: QtGui.QDragEnterEvent) -> None:
        if self._veil is not None and (local_files(event.mimeData()) or event.mimeData().hasText()):
            take_copy(event)
            self._veil.cover()

    def dragLeaveEvent(self, event: QtGui.QDragLeaveEvent) -> None:
        if self._veil is not None:
            self._veil.hide()

    def dropEvent(self, event: QDropEvent) -> None:
        if self._veil is not None:
            self._veil.hide()
            take_copy(event)
            self._on_dropped(local_files(event.mimeData()) or event.mimeData().text())


Level = Literal["info", "attention", "error", "done"]
LEVEL_ICONS: dict[Level, tuple[str, str]] = {
    "info": ("info", "accent"),
    "attention": ("triangle-alert", "attention"),
    "error": ("circle-x", "error"),
    "done": ("circle-check", "done"),
}


def paint_bar(
    painter: QPainter,
    box: QRectF,
    share: float,
    direction: Qt.LayoutDirection,
    *,
    role: str = "accent",
    is_selected: bool = False,
) -> None:
    """Paint a bar with round ends, filled from where lines begin up to `share`, from 0 to 1; also on a selected row."""
    radius = box.height() / 2
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.faded("quiet", 0.24) if is_selected else theme.colour("track"))
    painter.drawRoundedRect(box, radius, radius)
    if share > 0:
        filled = QRectF(box)
        filled.setWidth(max(box.height(), box.width() * min(1.0, share)))
        if direction == Qt.LayoutDirection.RightToLeft:
            filled.moveRight(box.right())
        painter.setBrush(theme.colour(role))
        painter.drawRoundedRect(filled, radius, radius)


class Bar(QWidget):
    """As `paint_bar` paints it."""

    share, is_selected, role = 0.0, False, "accent"

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            box = QRectF(self.rect())
            direction = self.layoutDirection()
            paint_bar(painter, box, self.share, direction, role=self.role, is_selected=self.is_selected)


class ThinProgress(QProgressBar):
    """The share of finished parts as a bar, 4 pixels high; empty while the total is unknown (0)."""

    def __init__(self) -> None:
        super().__init__(maximum=1_000, textVisible=False)
        self.setFixedHeight(4)

    def set_parts(self, done: int, total: int) -> None:
        self.setAccessibleName(self.tr("{done} of {total}").format(done=done, total=total))
        self.setValue(round(1_000 * done / total) if total else 0)


_LEAST_SENTENCE = 240  # pixels, before the links stand below it


class NoticeBar(QFrame):
    """A sentence about what happened, with a link for each possible action."""

    dismissed = Signal()

    def __init__(self, text: str = "", level: Level = "info", *, dismissable: bool = False) -> None:
        super().__init__()
        self.setProperty("kind", "notice")
        self._icon = IconLabel("info", "accent", 16)
        self._text = Label("", "body", wrap=True)
        self._text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._buttons = Flow(gap=MEDIUM)
        self._close = IconButton("x", self.tr("Dismiss"))
        self._close.clicked.connect(self.dismissed)
        words = boxed(Flow(self._text, boxed(self._buttons), gap=MEDIUM))
        margins = (MEDIUM, 3, 4 if dismissable else MEDIUM, 3)
        self._row = row(self._icon, (words, 1), self._close, gap=MEDIUM, margins=margins)
        self.setLayout(self._row)
        self._close.setVisible(dismissable)
        self.setMinimumHeight(scaled(34))
        self.set_text(text, level)

    def set_text(self, text: str, level: Level = "info") -> None:
        name, role = LEVEL_ICONS[level]
        self._icon.set_icon(name, role)
        self._text.setText(text)
        self._text.set_role("body" if level == "info" else level)
        self._text.setMinimumWidth(min(self._text.fontMetrics().horizontalAdvance(text), _LEAST_SENTENCE))
        self.setAccessibleName(text)
        restyle(self, "level", level)

    def say(self, text: str, level: Level = "attention") -> None:
        """Be there only while there is something to say."""
        self.set_text(text, level)
        self.setVisible(bool(text))

    def height_for(self, width: int) -> int:
        """The height, in pixels, at which nothing is cut in this width; right also before it was laid out."""
        self._row.invalidate()
        return max(self.minimumHeight(), self._row.totalHeightForWidth(width))

    def text(self) -> str:
        return self._text.text()

    def offer_files(self, paths: Sequence[Path]) -> None:
        for part in (self._icon, self._text):
            FileDrag(part, paths)

    def add_link(self, text: str, on_pressed: Callable[[], object]) -> LinkButton:
        link = LinkButton(text)
        link.clicked.connect(lambda _checked=False: on_pressed())
        links = self.links()
        self._buttons.addWidget(link)
        if self.parentWidget() is not None:
            follow_in_tab_order(links[-1] if links else self, link)
        return link

    def clear_links(self) -> None:
        discard(self._buttons, *self.links())

    def links(self) -> list[LinkButton]:
        items = (self._buttons.itemAt(index) for index in range(self._buttons.count()))
        found = [item.widget() for item in items if item is not None]
        return [widget for widget in found if isinstance(widget, LinkButton)]


_LEAST_WORDS = 110  # pixels of the title, before the buttons stand below it


class PageHeader(QWidget):
    """`more` is the "…" menu, hidden until the page shows it."""

    def __init__(self, title: str = "") -> None:
        super().__init__()
        self._title = ElidedLabel(title, "title")
        self._title.setContentsMargins(0, 1, 0, 0)
        self.state = StateLabel()
        self.state.hide()
        self._dot = Label("·", "quiet")
        self._dot.hide()
        self._facts = ElidedLabel("", "quiet")
        texts = column(self._title, row(self.state, self._dot, (self._facts, 1)), gap=2)
        self._elsewhere: list[Button] = []  # on the page
        self._at_right: list[Button] = []
        self.in_more: tuple[Button, ...] = ()  # for whose commands the "…" menu has entries of its own
        self.more = MoreButton(self.tr("More"))
        self.more.hide()
        self._buttons = Flow(self.more)
        words = boxed(texts)
        texts.addStrut(scaled(_LEAST_WORDS))
        words.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        # In a narrow window, or with a large font, the buttons stand below the words.
        self.setLayout(column(boxed(Flow(words, boxed(self._buttons))), margins=(WIDE, LARGE, WIDE, SMALL)))
        self._title.setVisible(bool(title))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)

    def set_title(self, title: str) -> None:
        self._title.setText(title)
        self._title.setVisible(bool(title))

    def title(self) -> str:
        return self._title.whole_text()

    def set_state(self, text: str, icon: str, colour_role: Role = "quiet") -> None:
        self.state.set_state(text, icon, colour_role)
        self.state.setVisible(bool(text))
        self._dot.setVisible(bool(text and self._facts.whole_text()))

    def set_facts(self, *facts: str) -> None:
        self._facts.setText(" · ".join(text for text in facts if text))
        self._dot.setVisible(bool(self.state.text() and any(facts)))

    def facts(self) -> str:
        return self._facts.whole_text()

    def add_button(self, button: Button) -> Button:
        self._buttons.removeWidget(self.more)
        for each in (button, self.more):  # which stays the last one
            self._buttons.addWidget(each)
        follow_in_tab_order(self._at_right[-1] if self._at_right else self._title, button, self.more)
        self._at_right.append(button)
        return button

    def also_offer(self, *buttons: Button) -> None:
        self._elsewhere.extend(buttons)

    def fill_menu(self, menu: QMenu) -> None:
        """Add the page's buttons, then the entries of its "…" menu; what is not possible is disabled."""
        for button in (*self._elsewhere, *self._at_right):
            if not button.isHidden() and button not in self.in_more:
                action = add_action(menu, button.text(), button.click, button.icon_name)
                action.setEnabled(button.isEnabled())
                action.setToolTip(button.toolTip())
        menu.addSeparator()
        self.more.menu().aboutToShow.emit()  # some pages fill it then
        menu.addActions(self.more.menu().actions())


_HEIGHT = 36


class Tabs(KeyboardRing, QTabBar):
    """`chosen` carries a key; a hidden tab is not in the bar at all, as Qt would offer it to screen readers."""

    chosen = Signal(str)

    def __init__(self, *, margin: int = WIDE) -> None:
        super().__init__()
        self._margin = margin
        self.setProperty("margin", "true" if margin else "false")
        self._titles: dict[str, str] = {}  # by key, in the order of the tabs, of those that are not shown too
        self._keys: list[str] = []  # of the tabs that are shown
        self._first: tuple[str, ...] = ()  # the keys that stand before the others
        self.setDrawBase(False)
        self.setExpanding(False)
        self.setElideMode(Qt.TextElideMode.ElideNone)
        self.setFixedHeight(scaled(_HEIGHT))
        self.currentChanged.connect(self._emit)

    def add(self, key: str, title: str) -> None:
        self._titles[key] = title
        self._keys.append(key)
        self.addTab(title)

    def current(self) -> str:
        index = self.currentIndex()
        return self._keys[index] if 0 <= index < len(self._keys) else ""

    def choose(self, key: str) -> None:
        self.setCurrentIndex(self._keys.index(key))

    def set_shown(self, key: str, shown: bool) -> None:
        if shown and key not in self._keys:
            order = list(dict.fromkeys((*self._first, *self._titles)))
            before = order[: order.index(key)]
            index = sum(each in self._keys for each in before)
            self._keys.insert(index, key)
            self.insertTab(index, self._titles[key])
        elif not shown and key in self._keys:
            index = self._keys.index(key)
            del self._keys[index]
            self.removeTab(index)

    def is_shown(self, key: str) -> bool:
        return key in self._keys

    def put_first(self, *keys: str) -> None:
        """These before all others, which keep the order in which they were added."""
        order = [key for key in dict.fromkeys((*keys, *self._titles)) if key in self._keys]
        self._first = keys
        for index, key in enumerate(order):
            self.moveTab(self._keys.index(key), index)
            self._keys.insert(index, self._keys.pop(self._keys.index(key)))

    def set_title(self, key: str, title: str) -> None:
        self._titles[key] = title
        if key in self._keys:
            self.setTabText(self._keys.index(key), title)

    def _emit(self, index: int) -> None:
        if 0 <= index < len(self._keys):
            self.chosen.emit(self._keys[index])

    def tabSizeHint(self, index: int) -> QSize:
        """As wide as its words are when they are chosen, and bold."""
        bold = QFont(self.font())
        bold.setWeight(QFont.Weight.DemiBold)
        hint, text = super().tabSizeHint(index), self.tabText(index)
        usual = bold if index == self.currentIndex() else self.font()
        more = QFontMetrics(bold).horizontalAdvance(text) - QFontMetrics(usual).horizontalAdvance(text)
        return QSize(hint.width() + more, scaled(_HEIGHT))

    def minimumTabSizeHint(self, index: int) -> QSize:
        return self.tabSizeHint(index)

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.fillRect(0, self.height() - 1, self.width(), 1, theme.colour("line"))
        super().paintEvent(event)
        if self.has_ring:
            box = self.tabRect(self.currentIndex())
            before = self._margin if self.currentIndex() == 0 else 0
            words = QStyle.visualRect(self.layoutDirection(), box, box.adjusted(before + 1, 5, -16, -6))
            with QPainter(self) as painter:
                painter.setPen(theme.colour("accent"))
                painter.drawRoundedRect(words, 4, 4)
