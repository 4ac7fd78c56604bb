"""One file of a draft: its name, how it is read, and its first rows with the columns' roles."""

from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtWidgets import QMenu, QSizePolicy, QWidget

from cfbatch_gui.core.inputs.encodings import shown_name
from cfbatch_gui.core.inputs.input_values import FileFormat, Mapping, Role, Shape
from cfbatch_gui.core.inputs.layouts import read_template
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.ui.display import number, one_line, plural
from cfbatch_gui.ui.inputs.draft_files import DraftChoices, DraftFiles
from cfbatch_gui.ui.inputs.draft_state import MOST_PREVIEWED, PREVIEW_ROWS, OpenFile
from cfbatch_gui.ui.inputs.input_labels import format_words, header_words, roles_for, separator_words
from cfbatch_gui.ui.inputs.preview_table import PreviewTable
from cfbatch_gui.ui.theme import MEDIUM, SMALL
from cfbatch_gui.ui.widgets import (
    Card,
    ElidedLabel,
    Flow,
    IconLabel,
    IconLine,
    Label,
    LinkButton,
    add_action,
    boxed,
    column,
    row,
)


class FilePart(QWidget):
    """`join_wanted` carries the index of a column to be joined with others."""

    join_wanted = Signal(int)

    def __init__(self, files: DraftFiles, choices: DraftChoices, *, is_second: bool = False) -> None:
        super().__init__()
        self._files, self._is_second = files, is_second
        self._file: OpenFile | None = None
        self.name = ElidedLabel("", "strong")
        self.name.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        self.facts = Label("", "quiet")
        self.encoding = LinkButton(tip=self.tr("Read it in another encoding"))
        self.encoding.clicked.connect(lambda: files.ask_encoding(second=is_second))
        self.guess = Label("", "quiet")
        self.separator = LinkButton(tip=self.tr("Choose how cells are separated"))
        self.header = LinkButton(tip=self.tr("Choose whether the first row names the columns"))
        self.header_guess = Label("", "quiet")
        self.change_header = LinkButton(self.tr("Change"), on_click=self._change_header)
        self.sheet = LinkButton(tip=self.tr("Choose another sheet"))
        self.remove = LinkButton(self.tr("Remove"))
        self.remove.clicked.connect(files.remove_second)
        self.more = LinkButton(self.tr("Show more rows"), on_click=lambda: files.show_more(second=is_second))
        self._menus: dict[LinkButton, Callable[[], QMenu]] = {
            self.separator: self._separator_menu,
            self.header: self._header_menu,
            self.sheet: self._sheet_menu,
        }
        self._links: list[tuple[QWidget, LinkButton]] = []
        parts: list[QWidget] = [IconLabel("file-text", "text", 16), self.name, self.facts]
        for link in (self.encoding, self.separator, self.header, self.change_header, self.sheet, self.remove):
            guess = {self.encoding: self.guess, self.change_header: self.header_guess}.get(link)
            linked = boxed(row(Label("·", "quiet"), *((guess,) if guess else ()), link, gap=SMALL))
            self._links.append((linked, link))
            parts.append(linked)
            if link in self._menus:
                link.clicked.connect(lambda _checked=False, link=link: self.open_menu(link))
        self.table = PreviewTable()
        header = self.table.roles
        header.role_chosen.connect(lambda column, role: choices.choose_role(column, role, second=is_second))
        header.join_wanted.connect(self.join_wanted)
        self.frame = Card((self.table, 1), inset=True, margins=(MEDIUM, 6, MEDIUM, 6))
        self.notice = IconLine("", "info")
        self.notice.hide()
        self.below = column()  # between the line and the preview
        layout = column(row((boxed(Flow(*parts)), 1), self.more), self.notice, self.below, (self.frame, 1))
        layout.addStretch(0)  # for a missing file, which has no preview
        self.setLayout(layout)

    def show_file(self, file: OpenFile, mapping: Mapping, *, rows: int) -> None:
        """`rows` is how many it has, -1 while that is not known."""
        self._file = file
        source = file.source
        self.name.setText(source.path.name)
        self.name.updateGeometry()
        columns = plural(len(source.columns), "{n} column", "{n} columns")
        counted = plural(rows, "{n} row", "{n} rows")
        known = ("" if rows < 0 else counted, columns, format_words(source))
        self.facts.setText(" · ".join(filter(None, known)))
        self.notice.set_line(" ".join(map(said, source.notices)))
        self.notice.setVisible(bool(source.notices))
        self._show_more(len(file.sample), rows)
        self._show_encoding(shown_name(source.encoding), is_guess=source.is_encoding_guessed)
        self.separator.setText(separator_words(source))
        self.header.setText(header_words(source))
        self.header_guess.setText(header_words(source))
        other = (
            self.tr("Take the first row as data") if source.has_header else self.tr("Take the first row as a header")
        )
        self.change_header.setToolTip(other)
        self.change_header.setAccessibleName(other)
        self.sheet.setText(self.tr("sheet “{name}”").format(name=one_line(source.sheet, 40).replace("&", "&&")))
        is_table = source.format == FileFormat.DELIMITED or bool(source.sheets) or source.shape is Shape.ARRAYS
        has_choice = is_table or source.format == FileFormat.LINES
        shown = {
            self.encoding: bool(source.encoding),
            self.separator: bool(separator_words(source)),
            self.header: has_choice and source.is_header_sure,
            self.change_header: has_choice and not source.is_header_sure,
            self.sheet: len(source.sheets) > 1,
            self.remove: self._is_second,
        }
        for linked, link in self._links:
            linked.setVisible(shown[link])
        roles: tuple[Role, ...] = mapping.second_roles if self._is_second else mapping.roles
        self.table.show_file(file, roles, roles_for(mapping, second=self._is_second), self._joined(file, mapping))
        self.table.show()

    def _show_encoding(self, words: str, *, is_guess: bool) -> None:
        self.guess.setText(self.tr("{encoding}, our guess ·").format(encoding=words))
        self.guess.setVisible(is_guess)
        self.encoding.setText(self.tr("Change") if is_guess else words)

    def _show_more(self, shown: int, rows: int) -> None:
        self.more.setVisible(rows > shown or (rows < 0 and shown % PREVIEW_ROWS == 0 and shown > 0))
        first = self.tr("The first {n} rows are shown.").format(n=number(shown))
        self.more.set_possible("" if shown < MOST_PREVIEWED else first)
        if shown < MOST_PREVIEWED:
            self.more.setToolTip(first)

    def _joined(self, file: OpenFile, mapping: Mapping) -> frozenset[int]:
        has_texts = bool(mapping.second_roles) is self._is_second
        found = read_template(mapping.template, file.source.columns) if mapping.template and has_texts else ""
        return frozenset() if isinstance(found, str) else found.columns

    def show_name_only(self, name: str, facts: str) -> None:
        self._file = None
        self.name.setText(name)
        self.name.updateGeometry()
        self.facts.setText(facts)
        self.notice.hide()
        self.more.hide()
        for linked, _ in self._links:
            linked.hide()

    def show_above_table(self, bar: QWidget) -> None:
        self.frame.body.setContentsMargins(MEDIUM, 2, MEDIUM, 6)
        self.frame.body.setSpacing(0)
        self.frame.body.insertWidget(0, bar)

    def open_menu(self, link: LinkButton) -> QMenu:
        menu = self._menus[link]()
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(link.mapToGlobal(QPoint(0, link.height() + 2)))
        return menu

    def _read(self, **changes: object) -> Callable[[], None]:
        def change() -> None:
            if self._file is not None:
                options = replace(self._file.options, **changes)  # type: ignore[arg-type]  # the names of its fields
                self._files.reread(options, second=self._is_second)

        return change

    def _separator_menu(self) -> QMenu:
        menu = QMenu(self)
        source = self._file.source if self._file else None
        now = source.separator if source else ""
        for sign, title in (
            (",", self.tr("Comma  ,")),
            (";", self.tr("Semicolon  ;")),
            ("\t", self.tr("Tab")),
            ("|", self.tr("Bar  |")),
        ):
            add_action(menu, title, self._read(separator=sign, has_header=None, unit=None), checked=sign == now)
        if source is not None and source.path.suffix.lower() not in (".csv", ".tsv"):
            menu.addSeparator()
            for unit, title in (
                (FileFormat.LINES, self.tr("One text per line")),
                (FileFormat.PARAGRAPHS, self.tr("One text per paragraph")),
                (FileFormat.WHOLE, self.tr("The whole file is one text")),
            ):
                read = self._read(separator=None, has_header=None, unit=unit)
                add_action(menu, title, read, checked=source.format == unit)
        return menu

    def _header_menu(self) -> QMenu:
        menu = QMenu(self)
        now = bool(self._file and self._file.source.has_header)
        for value in (True, False):
            title = self.tr("The first row is a header") if value else self.tr("There is no header row")
            add_action(menu, title, self._read(has_header=value), checked=value is now)
        return menu

    def _change_header(self) -> None:
        if self._file is not None:
            self._read(has_header=not self._file.source.has_header)()

    def _sheet_menu(self) -> QMenu:
        menu = QMenu(self)
        if self._file is not None:
            for sheet in self._file.source.sheets:
                title = one_line(sheet, 80).replace("&", "&&")
                change = self._read(sheet=sheet, has_header=None)
                add_action(menu, title, change, checked=sheet == self._file.source.sheet)
        return menu
