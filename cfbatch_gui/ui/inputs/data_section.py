"""The first two parts of a draft: what to do, and with which data: each file, how it is read, and its first rows."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtWidgets import QMenu, QSizePolicy, QWidget

from cfbatch_gui.core.inputs.encodings import shown_name
from cfbatch_gui.core.inputs.input_values import FileFormat, Kind, Layout, Mapping, Role, Shape, Source, Split
from cfbatch_gui.core.inputs.layouts import describe, read_template, with_template
from cfbatch_gui.core.inputs.readers.formats import visible
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.ui.display import number, one_line, plural
from cfbatch_gui.ui.inputs.draft_actions import RecipesButton
from cfbatch_gui.ui.inputs.draft_files import DraftFiles
from cfbatch_gui.ui.inputs.draft_reading import MOST_PREVIEWED, PREVIEW_ROWS, DraftState, OpenFile
from cfbatch_gui.ui.inputs.encoding_question import EncodingChooser
from cfbatch_gui.ui.inputs.input_labels import (
    format_words,
    header_words,
    kind_words,
    layout_words,
    roles_for,
    separator_words,
)
from cfbatch_gui.ui.inputs.intake import DropPlace, Intake
from cfbatch_gui.ui.inputs.preview_table import PreviewTable
from cfbatch_gui.ui.inputs.text_editors import (
    DEFAULT_SPLIT,
    CandidateChoice,
    SplitEditor,
    TemplateEditor,
    proposed_template,
)
from cfbatch_gui.ui.theme import MEDIUM, SMALL
from cfbatch_gui.ui.widgets import (
    Button,
    Card,
    ChoiceCard,
    ElidedLabel,
    Flow,
    IconButton,
    IconLabel,
    IconLine,
    Label,
    LinkButton,
    NoticeBar,
    SectionCard,
    Sentence,
    ThinProgress,
    add_action,
    boxed,
    column,
    row,
)


class FilePart(QWidget):
    """`join_wanted` carries the index of a column to be joined with others."""

    join_wanted = Signal(int)

    def __init__(self, files: DraftFiles, *, is_second: bool = False) -> None:
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
        self.header = LinkButton(on_click=self._change_header)
        self.sheet = LinkButton(tip=self.tr("Choose another sheet"))
        self.hidden = LinkButton(on_click=self._change_hidden)
        self.remove = LinkButton(self.tr("Remove"))
        self.remove.clicked.connect(files.remove_second)
        self.more = LinkButton(self.tr("Show more rows"), on_click=lambda: files.show_more(second=is_second))
        self._menus: dict[LinkButton, Callable[[], QMenu]] = {
            self.separator: self._separator_menu,
            self.sheet: self._sheet_menu,
        }
        self._links: list[tuple[QWidget, LinkButton]] = []
        parts: list[QWidget] = [IconLabel("file-text", "text", 16), self.name, self.facts]
        for link in (self.encoding, self.separator, self.header, self.sheet, self.hidden, self.remove):
            guess = (self.guess,) if link is self.encoding else ()
            linked = boxed(row(Label("·", "quiet"), *guess, link, gap=SMALL))
            self._links.append((linked, link))
            parts.append(linked)
            if link in self._menus:
                link.clicked.connect(lambda _checked=False, link=link: self.open_menu(link))
        self.table = PreviewTable()
        header = self.table.roles
        header.role_chosen.connect(lambda column, role: files.choose_role(column, role, second=is_second))
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
        other = (
            self.tr("Take the first row as data") if source.has_header else self.tr("Take the first row as a header")
        )
        self.header.setToolTip(other)
        self.sheet.setText(self.tr("sheet “{name}”").format(name=one_line(source.sheet, 40).replace("&", "&&")))
        self.hidden.setText(self._hidden_words(source))
        other = self.tr("Read the hidden rows") if source.leaves_hidden else self.tr("Leave the hidden rows out")
        self.hidden.setToolTip(other)
        is_table = source.format == FileFormat.DELIMITED or bool(source.sheets) or source.shape is Shape.ARRAYS
        has_choice = is_table or source.format == FileFormat.LINES
        shown = {
            self.encoding: bool(source.encoding),
            self.separator: bool(separator_words(source)),
            self.header: has_choice,
            self.sheet: len(source.sheets) > 1,
            self.hidden: source.hidden > 0,
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
        odd = source.likely_separator or now if source else ""
        for sign, title in (
            *([(odd, visible(odd))] if odd and odd not in ",;\t| " else []),
            (",", self.tr("Comma  ,")),
            (";", self.tr("Semicolon  ;")),
            ("\t", self.tr("Tab")),
            ("|", self.tr("Bar  |")),
            (" ", self.tr("Space")),
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

    def _change_header(self) -> None:
        if self._file is not None:
            self._read(has_header=not self._file.source.has_header)()

    def _hidden_words(self, source: Source) -> str:
        if source.leaves_hidden:
            return plural(source.hidden, "without {n} hidden row", "without {n} hidden rows")
        return plural(source.hidden, "with {n} hidden row", "with {n} hidden rows")

    def _change_hidden(self) -> None:
        if self._file is not None:
            self._read(leaves_hidden=not self._file.source.leaves_hidden)()

    def _sheet_menu(self) -> QMenu:
        menu = QMenu(self)
        if self._file is not None:
            for sheet in self._file.source.sheets:
                title = one_line(sheet, 80).replace("&", "&&")
                change = self._read(sheet=sheet, has_header=None)
                add_action(menu, title, change, checked=sheet == self._file.source.sheet)
        return menu


class WhatSection(SectionCard):
    def __init__(self, files: DraftFiles) -> None:
        super().__init__(self.tr("What do you want to do?"))
        self.rank = ChoiceCard(
            "list-ordered", kind_words(Kind.RANK), self.tr("Best matches first, with a score for each")
        )
        self.embed = ChoiceCard("waypoints", kind_words(Kind.EMBED), self.tr("For search, clustering and maps"))
        self.rank.chosen.connect(lambda: files.choose_kind(Kind.RANK))
        self.embed.chosen.connect(lambda: files.choose_kind(Kind.EMBED))
        self.content.addLayout(row((self.rank, 1), (self.embed, 1), gap=MEDIUM))  # equally wide, whatever they say

    def show_state(self, state: DraftState) -> None:
        self.rank.set_chosen(state.kind is Kind.RANK)
        self.embed.set_chosen(state.kind is Kind.EMBED)
        self.set_done(state.kind is not None)
        self.set_summary(kind_words(state.kind) if state.kind else "")


class DataSection(SectionCard):
    """What the user does changes the `DraftState`, which comes back by `show_state`."""

    def __init__(self, recipes: RecipesButton, files: DraftFiles, intake: Intake) -> None:
        super().__init__(self.tr("Your data"))
        self._state = DraftState()
        self.recipes, self._files, self._intake = recipes, files, intake
        self.open_button = Button(self.tr("Open another…"), "folder-open", intake.choose_file)
        self.folder_button = IconButton("folder", self.tr("Open a folder"), intake.choose_folder)
        self.paste_button = IconButton("clipboard-paste", self.tr("Paste"), intake.paste)
        for button in (self.recipes, self.open_button, self.folder_button, self.paste_button):
            self.actions_row.addWidget(button)
        self.drop = DropPlace(intake)
        self.encoding = EncodingChooser()
        self.encoding.answered.connect(files.answer_encoding)
        self.encoding.refused.connect(files.drop_question)
        self.missing = NoticeBar("", "attention")
        self.missing.add_link(self.tr("Choose the file"), intake.choose_file)
        self.first, self.second = FilePart(files), FilePart(files, is_second=True)
        for part in (self.first, self.second):
            part.join_wanted.connect(self._begin_template)
        self.progress = ThinProgress()
        policy = self.progress.sizePolicy()
        policy.setRetainSizeWhenHidden(True)  # showing and hiding it moves nothing
        self.progress.setSizePolicy(policy)
        self.progress.hide()
        self.sentence_icon = IconLabel("sparkles", "accent", 16)
        self.sentence = Sentence()
        tip = self.tr("Choose how rows become texts")
        self.change = LinkButton(self.tr("Change"), "", self.open_layout_menu, tip=tip)
        self.add_second = Button("", "file-up", self._add_second)
        sentence = boxed(row(self.sentence_icon, self.sentence))
        self.type_query = Button(self.tr("Type one query…"), "pencil", intake.type_query)
        added = boxed(row(self.add_second, self.type_query, gap=SMALL))  # one below the other would look like two steps
        self.first.below.addWidget(boxed(Flow(sentence, added, self.change)))
        self._make_editors()
        self.first.show_above_table(self.progress)
        for widget in (self.drop, self.encoding, self.missing, self.first, self.second):
            self.content.addWidget(widget, 1 if widget in (self.first, self.second) else 0)
        QWidget.setTabOrder(self.paste_button, self._fold)  # the visible order, not that of creation
        QWidget.setTabOrder(self.first.remove, self.add_second)
        QWidget.setTabOrder(self.add_second, self.change)

    def _add_second(self) -> None:
        self._intake.choose_second(self._state.missing_file or Role.CONTEXT)

    def _make_editors(self) -> None:
        tip = self.tr("Look at the file as if it were the first of its kind")
        self.undo = LinkButton(self.tr("Undo"), "", self._files.suggest_again, tip=tip)
        known = Label(self.tr("Read as you chose for the last file that was built like this one."), "quiet")
        self.known = boxed(row(IconLabel("bookmark", "quiet", 16), known, self.undo, None, gap=SMALL))
        self.template = TemplateEditor()
        self.template.template_chosen.connect(self._choose_template)
        self.split = SplitEditor()
        self.split.split_chosen.connect(self._choose_split)
        self.candidates = CandidateChoice()
        self.candidates.rule_chosen.connect(self._files.choose_candidates)
        for editor in (self.known, self.candidates, self.template, self.split):
            editor.hide()
            self.first.below.addWidget(editor)

    def show_state(self, state: DraftState, job: Job) -> None:
        self._state = state
        is_asked = state.question is not None
        self.drop.setVisible(not state.has_data)
        self.drop.show_opening(state.opening)
        self.encoding.setVisible(is_asked)
        self.encoding.ask(state.question)
        self.missing.setVisible(not is_asked and bool(state.missing))
        self.missing.set_text(
            self.tr("{what} What was read from it before can still be sent.").format(what=said(state.missing)),
            "attention",
        )
        self.first.setVisible(not is_asked and state.has_data)
        self.second.setVisible(not is_asked and state.second is not None)
        self.recipes.setVisible(state.file is not None and not is_asked)
        for button in (self.open_button, self.folder_button, self.paste_button):
            button.setVisible(state.has_data)
        if not is_asked and state.has_data:
            self._show_files(state, job)
        is_done = state.has_data and not is_asked and not state.incomplete
        if not is_done:
            self.set_folded(False)
        self.set_done(is_done)

    def show_progress(self, share: float) -> None:
        if self._state.is_reading:
            self.progress.show()
            self.progress.set_parts(round(share * 1000), 1000)

    def _show_files(self, state: DraftState, job: Job) -> None:
        is_counted = state.is_read
        facts = plural(job.rows_in, "{n} row", "{n} rows")
        if state.file is not None and state.mapping is not None:
            self.first.show_file(state.file, state.mapping, rows=job.rows_in if is_counted else -1)
        else:
            self.first.show_name_only(job.source_name, facts)
        if state.second is not None and state.mapping is not None:
            self.second.show_file(state.second, state.mapping, rows=-1)
        self.first.frame.setVisible(state.file is not None)
        self.change.setVisible(state.file is not None)
        missing = state.missing_file
        self.add_second.setVisible(missing is not None)
        self.type_query.setVisible(missing is Role.QUERY)
        queries, second = self.tr("Add the file of queries…"), self.tr("Add the second file…")
        self.add_second.setText(queries if missing is Role.QUERY else second)
        self.known.setVisible(state.as_before)
        self.candidates.show_state(state)
        self._show_editors(state)
        if not state.is_reading:
            self.progress.hide()
            self.progress.set_parts(0, 0)
        sentence = said(state.incomplete) or self._sentence(state, job)
        self.sentence_icon.set_icon(*(("circle-dot", "attention") if state.incomplete else ("sparkles", "accent")))
        self.sentence.setText(sentence)
        self.sentence.set_role("attention" if state.incomplete else "body")
        self.sentence.updateGeometry()
        name = state.file.path.name if state.file else job.source_name
        self.set_summary(" · ".join(filter(None, (name, facts if is_counted else "", sentence))))

    def _sentence(self, state: DraftState, job: Job) -> str:
        if state.mapping is None:
            return ""
        whole = said(describe(state.mapping, job.queries, job.texts))
        # While the file is read, the counts are still those of the reading before.
        return whole if state.is_read else self.tr("{layout} …").format(layout=whole.rpartition(":")[0])

    def _show_editors(self, state: DraftState) -> None:
        mapping, file = state.mapping, self._file_of_texts()
        has_template = mapping is not None and bool(mapping.template)
        if mapping is not None and file is not None:
            if has_template:
                self.template.show_file(file, mapping.template)
            if mapping.split is not None:
                self.split.show_split(mapping.split, mapping.kind)
        has_split = mapping is not None and mapping.split is not None
        self.template.setVisible(has_template and file is not None)
        self.split.setVisible(has_split and file is not None)

    def _file_of_texts(self) -> OpenFile | None:
        return self._state.second or self._state.file

    def _begin_template(self, column: int = -1) -> None:
        mapping, file = self._state.mapping, self._file_of_texts()
        if mapping is not None and file is not None and not mapping.template:
            is_second = file is self._state.second
            self._choose_template(proposed_template(mapping, file.source.columns, column, second=is_second))
        self.template.field.setFocus(Qt.FocusReason.OtherFocusReason)

    def _choose_template(self, template: str) -> None:
        if (mapping := self._state.mapping) is not None:
            self._files.choose_mapping(with_template(mapping, template))

    def _choose_split(self, split: Split | None) -> None:
        if self._state.mapping is not None:
            self._files.choose_mapping(replace(self._state.mapping, split=split))

    def open_layout_menu(self) -> QMenu:
        menu = QMenu(self)
        state = self._state
        mapping, file = state.mapping, state.file
        if mapping is not None and file is not None:
            for layout in self._layouts():
                choose = partial(self._files.choose_layout, layout)
                add_action(menu, layout_words(layout), choose, checked=layout is mapping.layout)
            menu.addSeparator()
            if len(file.source.columns) > 1:
                join = self.tr("Join several columns to one text…")
                end_template = partial(self._choose_template, "")
                act = end_template if mapping.template else self._begin_template
                add_action(menu, join, act, checked=bool(mapping.template))
            is_split = mapping.split is not None
            split = partial(self._choose_split, None if is_split else DEFAULT_SPLIT)
            add_action(menu, self.tr("Cut long texts into parts…"), split, checked=is_split)
            if mapping.kind is Kind.RANK:
                menu.addSeparator()
                if state.second is None:
                    add_action(
                        menu,
                        self.tr("Add a second file with contexts for every query…"),
                        partial(self._intake.choose_second, Role.CONTEXT),
                        "file-up",
                    )
                else:
                    add_action(menu, self.tr("Remove the second file"), self._files.remove_second)
        menu.popup(self.change.mapToGlobal(QPoint(0, self.change.height() + 2)))
        return menu

    def _layouts(self) -> tuple[Layout, ...]:
        mapping, file = self._state.mapping, self._state.file
        if mapping is None or file is None or mapping.kind is Kind.EMBED:
            return (Layout.TEXTS,)
        if mapping.layout in (Layout.SHARED, Layout.CANDIDATES):
            return (Layout.SHARED, Layout.CANDIDATES) if self._state.second else (mapping.layout,)
        contexts = sum(role is Role.CONTEXT for role in mapping.roles)
        can_be_wide = contexts > 1 or mapping.layout is Layout.WIDE
        judged = (Layout.JUDGED,) if mapping.layout is Layout.JUDGED else ()
        return (Layout.LONG, *((Layout.WIDE,) if can_be_wide else ()), Layout.NESTED, *judged)
