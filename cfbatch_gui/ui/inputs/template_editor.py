"""The editor of the template that joins several columns to one text, with its results for the first rows."""

from collections.abc import Callable

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QKeyEvent, Qt
from PySide6.QtWidgets import QLineEdit, QWidget

from cfbatch_gui.core.inputs.cell_texts import read_template
from cfbatch_gui.core.inputs.input_values import Mapping, Role
from cfbatch_gui.ui.display import number, one_line
from cfbatch_gui.ui.inputs.draft_state import OpenFile
from cfbatch_gui.ui.theme import MEDIUM, SMALL, TINY, scaled
from cfbatch_gui.ui.widgets import Card, ElidedLabel, Flow, Label, LinkButton, MenuButton, boxed, column, row

_SHOWN = 2  # rows
_PAUSE = 350  # milliseconds after a key until the file is read again
_TITLES = ("title", "titel", "titre", "título", "titolo", "name", "headline", "heading", "subject", "betreff", "标题")


class TemplateEditor(Card):
    """Emits `template_chosen` with a valid template shortly after the last key, or with "" for a single column."""

    template_chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(inset=True, parent=parent)
        self._file: OpenFile | None = None
        self._used = ""
        self.field = QLineEdit()
        self.field.setAccessibleName(self.tr("Template for the text"))
        self.field.setPlaceholderText(self.tr("{title}. {body}"))
        self.field.textEdited.connect(self._edited)
        self.field.returnPressed.connect(self._choose)
        self.insert = MenuButton(self.tr("Insert a column"))
        self.insert.menu().aboutToShow.connect(self._fill_menu)
        self.end_link = LinkButton(self.tr("Use one column"))
        self.end_link.clicked.connect(lambda: self.template_chosen.emit(""))
        self.results = tuple(ElidedLabel("", "body") for _ in range(_SHOWN))
        self._numbers = tuple(Label("", "quiet") for _ in range(_SHOWN))
        self.wrong = Label("", "attention", wrap=True)
        self.wrong.hide()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_PAUSE)
        self._timer.timeout.connect(self._choose)
        title = Label(self.tr("Text of each row"), "strong")
        title.setBuddy(self.field)
        self.body.setContentsMargins(MEDIUM, SMALL, MEDIUM, SMALL)
        line = row(boxed(Flow(title, self.field, self.insert)), self.end_link)
        line.setStretch(0, 1)
        self.body.addLayout(line)
        lines = column(gap=TINY, margins=(0, SMALL, 0, 0))
        for label, result in zip(self._numbers, self.results, strict=True):
            label.setFixedWidth(scaled(64))
            line = row(label, result, gap=SMALL)
            line.setStretch(1, 1)
            lines.addLayout(line)
        self.body.addLayout(lines)
        self.body.addWidget(self.wrong)

    def show_file(self, file: OpenFile, template: str) -> None:
        """Show a template for the columns of this file; what is being typed stays."""
        is_other = self._file is None or self._file.source.columns != file.source.columns
        self._file = file
        if is_other or template != self._used:
            self._used = template
            if template != self.field.text():
                self._timer.stop()
                self.field.setText(template)
        self._show_results()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            event.accept()  # the field has handled it
        else:
            super().keyPressEvent(event)

    def _edited(self) -> None:
        self._show_results()
        self._timer.start()

    def _choose(self) -> None:
        self._timer.stop()
        text = self.field.text()
        if self._file is not None and text != self._used and not isinstance(self._read(), str):
            self._used = text
            self.template_chosen.emit(text)

    def _read(self) -> object:
        columns = self._file.source.columns if self._file else ()
        return read_template(self.field.text(), columns)

    def _show_results(self) -> None:
        columns = self._file.source.columns if self._file else ()
        found = read_template(self.field.text(), columns)
        sample = [each for each in self._file.sample if not each.problem][:_SHOWN] if self._file else []
        is_wrong = isinstance(found, str)
        self.wrong.setText(found if isinstance(found, str) else "")
        self.wrong.setVisible(is_wrong)
        for index, (label, result) in enumerate(zip(self._numbers, self.results, strict=True)):
            shown = not isinstance(found, str) and index < len(sample)
            label.setVisible(shown)
            result.setVisible(shown)
            if shown and not isinstance(found, str):
                label.setText(self.tr("Row {n}").format(n=number(sample[index].number)))
                text = one_line(found.render(sample[index].cells))
                result.setText(text or self.tr("nothing: every column of the template is empty here"))
                result.set_role("body" if text else "quiet")

    def _fill_menu(self) -> None:
        menu = self.insert.menu()
        menu.clear()
        for name in self._file.source.columns[:60] if self._file else ():
            self.insert.add(one_line(name, 60).replace("&", "&&"), self._inserting(name))

    def _inserting(self, name: str) -> Callable[[], None]:
        def insert() -> None:
            self.field.insert("{" + name + "}")
            self.field.setFocus(Qt.FocusReason.OtherFocusReason)
            self._edited()

        return insert


def proposed_template(mapping: Mapping, columns: tuple[str, ...], column: int, *, second: bool) -> str:
    """The first template: the current text column, a title column if there is one, and `column`, in file order.

    `column` is an index; -1 adds none.
    """
    roles = mapping.second_roles if second else mapping.roles
    chosen = [index for index, role in enumerate(roles) if role in (Role.TEXT, Role.CONTEXT)][:1]
    free = [index for index, role in enumerate(roles) if role in (Role.KEEP, Role.IGNORE)]
    chosen += [index for index in free if columns[index].strip().casefold() in _TITLES][:1]
    if 0 <= column < len(columns):
        chosen.append(column)
    names = [columns[index] for index in sorted(set(chosen)) if _is_usable(columns[index])]
    return ". ".join("{" + name + "}" for name in names or [each for each in columns[:2] if _is_usable(each)])


def _is_usable(name: str) -> bool:
    return not set(name) & {"{", "}"}
