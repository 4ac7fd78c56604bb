"""The list of the last notices, newest first, with their details, and what can still be undone."""

import time
from functools import partial
from pathlib import Path

from PySide6.QtCore import QDateTime, QLocale, QSize, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QHBoxLayout, QWidget

from cfbatch_gui.ui.notices import Notices, PastNotice, show_folder_of
from cfbatch_gui.ui.theme import LARGE, MEDIUM, SMALL, TINY, WIDE, scaled
from cfbatch_gui.ui.undoing import Undo
from cfbatch_gui.ui.widgets import Button, IconLabel, Label, LinkButton, column, line, row, scrolled
from cfbatch_gui.ui.widgets.bars import LEVEL_ICONS
from cfbatch_gui.ui.widgets.file_drag import FileDrag


class NoticeListDialog(QDialog):
    """Open it with `open()`; it deletes itself when it is closed. Opening it marks all notices as seen."""

    def __init__(self, notices: Notices, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Notices"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._undos = notices.undos
        past = notices.past()
        content = QWidget()
        lines = column(gap=SMALL, margins=(0, 0, SMALL, 0))
        for number, notice in enumerate(past):
            if number:
                lines.addWidget(line())
            lines.addLayout(self._line(notice))
        if not past:
            lines.addWidget(Label(self.tr("There were no notices since the program was started."), "quiet", wrap=True))
        lines.addStretch(1)
        content.setLayout(lines)
        close = Button(self.tr("Close"))
        close.clicked.connect(self.accept)
        margins = (WIDE, WIDE - TINY, WIDE, WIDE - TINY)
        heading = Label(self.tr("Notices"), "part")
        self.setLayout(column(heading, scrolled(content), row(None, close), gap=LARGE, margins=margins))
        notices.mark_seen()

    def sizeHint(self) -> QSize:
        return QSize(scaled(560), scaled(420))

    def _line(self, notice: PastNotice) -> QHBoxLayout:
        moment = QDateTime.fromSecsSinceEpoch(int(notice.shown_at))
        is_today = moment.date().toJulianDay() == QDateTime.fromSecsSinceEpoch(int(time.time())).date().toJulianDay()
        locale, short = QLocale(), QLocale.FormatType.ShortFormat
        when = locale.toString(moment.time(), short) if is_today else locale.toString(moment, short)
        parts: list[QWidget] = [Label(when, "small")]
        if notice.details:
            copy = LinkButton(self.tr("Copy details"))
            copy.clicked.connect(partial(_copy, notice.details))
            parts.append(copy)
        if notice.undo is not None and self._undos.is_offered(notice.undo):
            parts.append(self._undo_link(notice.undo))
        sentence = Label(notice.text, "body", wrap=True)
        if notice.paths:
            FileDrag(sentence, notice.paths)
            show = LinkButton(self.tr("Show file") if len(notice.paths) == 1 else self.tr("Show files"))
            show.clicked.connect(partial(_show, notice.paths[-1]))
            parts.append(show)
        texts = column(sentence, row(*parts, None, gap=MEDIUM), gap=TINY)
        whole = row(IconLabel(*LEVEL_ICONS[notice.level], 16), gap=MEDIUM)
        whole.addLayout(texts, 1)
        return whole

    def _undo_link(self, undo: Undo) -> LinkButton:
        link = LinkButton(self.tr("Undo"))
        link.setAccessibleName(undo.words)

        def take() -> None:
            self.accept()  # first: what is undone may open a page
            self._undos.take(undo)

        link.clicked.connect(take)
        return link


def _show(path: Path, _checked: bool = False) -> None:
    show_folder_of(path)


def _copy(details: str, _checked: bool = False) -> None:
    QGuiApplication.clipboard().setText(details)
