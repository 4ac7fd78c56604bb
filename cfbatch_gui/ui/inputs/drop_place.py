"""Where data comes in while there is none: drop, open, paste, or take the example."""

from PySide6.QtCore import QRect, QRectF, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from cfbatch_gui.ui import theme
from cfbatch_gui.ui.theme import RADIUS_CARD, SMALL, WIDE
from cfbatch_gui.ui.widgets import Button, IconLabel, Label, LinkButton, PrimaryButton, column, row


class DropPlace(QWidget):
    """A dashed box with the ways to bring data. The page itself takes what is dropped."""

    open_wanted = Signal()
    folder_wanted = Signal()
    paste_wanted = Signal()
    example_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._is_target = False
        self._icon = IconLabel("file-up", "quiet", 28)
        self._title = Label("", "strong")
        self._formats = Label(
            self.tr("CSV, Excel and other sheets, plain text, Word, JSON, Parquet, or a folder of texts"),
            "small",
            wrap=True,
        )
        self._formats.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.open_button = PrimaryButton(self.tr("Open…"), "folder-open")
        self.paste_button = Button(self.tr("Paste"), "clipboard-paste")
        self.folder_link = LinkButton(self.tr("Open a folder"))
        self.folder_link.clicked.connect(self.folder_wanted)
        self.example_link = LinkButton(self.tr("Use the example"))
        self.open_button.clicked.connect(self.open_wanted)
        self.paste_button.clicked.connect(self.paste_wanted)
        self.example_link.clicked.connect(self.example_wanted)
        center = Qt.AlignmentFlag.AlignHCenter
        layout = column(None, gap=SMALL, margins=(WIDE, WIDE, WIDE, WIDE))
        for widget in (self._icon, self._title):
            layout.addWidget(widget, 0, center)
        layout.addWidget(self._formats)
        layout.addSpacing(SMALL)
        layout.addLayout(row(None, self.open_button, self.paste_button, None))
        layout.addLayout(row(None, self.folder_link, Label("·", "quiet"), self.example_link, None))
        layout.addStretch(1)
        self.setLayout(layout)
        self.setMinimumHeight(236)
        self.show_opening("")

    def show_opening(self, name: str) -> None:
        """Say that a file is being opened; "" when none is."""
        self._title.setText(
            self.tr("Opening {name}…").format(name=name) if name else self.tr("Drop a file here, or a folder")
        )

    def set_target(self, is_target: bool) -> None:
        """Something that can be dropped is held over the page."""
        if is_target != self._is_target:
            self._is_target = is_target
            self._icon.set_icon("file-up", "accent" if is_target else "quiet")
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        quiet = theme.mixed(theme.colour("quiet"), theme.colour("card"), 0.45)
        pen = QPen(theme.colour("accent") if self._is_target else quiet, 1.5 if self._is_target else 1)
        pen.setStyle(Qt.PenStyle.CustomDashLine)
        pen.setDashPattern([5, 4])
        painter.setPen(pen)
        painter.setBrush(theme.colour("selection" if self._is_target else "inset"))
        painter.drawRoundedRect(box, RADIUS_CARD, RADIUS_CARD)


class DropVeil(QWidget):
    """Lies over the page while something that can be dropped is held over it."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def cover(self, box: QRect) -> None:
        """Lie over this part of the page."""
        self.setGeometry(box.adjusted(SMALL, SMALL, -SMALL, -SMALL))
        self.raise_()
        self.show()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        back = theme.colour("selection")
        back.setAlphaF(0.9)
        pen = QPen(theme.colour("accent"), 1.5)
        pen.setStyle(Qt.PenStyle.CustomDashLine)
        pen.setDashPattern([5, 4])
        painter.setPen(pen)
        painter.setBrush(back)
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), RADIUS_CARD, RADIUS_CARD)
        painter.setPen(theme.colour("text"))
        painter.drawText(
            self.rect(), Qt.AlignmentFlag.AlignCenter, self.tr("Drop it to use it as the data of this job")
        )
