"""The first two parts of a draft: what to do, and with which data: each file, how it is read, and its first rows."""

import asyncio
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

from PySide6.QtCore import QPoint, QSignalBlocker, Qt, QTimer
from PySide6.QtWidgets import QFrame, QGridLayout, QLineEdit, QMenu, QSizePolicy, QSpinBox, QVBoxLayout, QWidget

from cfbatch_gui.core.inputs import input_values
from cfbatch_gui.core.inputs.encodings import CHOICES, shown_name
from cfbatch_gui.core.inputs.input_values import CandidatePool, FileFormat, Kind, Layout, Mapping, Role, Source, Split
from cfbatch_gui.core.inputs.layouts import describe, describe_layout, read_template, with_layout
from cfbatch_gui.core.jobs.states import Job, Purpose
from cfbatch_gui.ui import widgets
from cfbatch_gui.ui.inputs.draft_actions import DraftActions, RecipesButton
from cfbatch_gui.ui.inputs.draft_state import MOST_PREVIEWED, PREVIEW_ROWS, DraftState, OpenFile, readings
from cfbatch_gui.ui.inputs.drafts import Drafts
from cfbatch_gui.ui.inputs.preview_table import PREVIEW_ROW_HEIGHT, PreviewTable
from cfbatch_gui.ui.theme import MEDIUM, SMALL, WIDE, scaled
from cfbatch_gui.ui.widgets import Button, Card, Flow, IconLabel, Label, LinkButton, add_action, boxed, column, row
from cfbatch_gui.ui.widgets.bars import DropTarget
from cfbatch_gui.words import inputs
from cfbatch_gui.words.figures import number, one_line, plural
from cfbatch_gui.words.languages import said
from cfbatch_gui.words.purposes import purpose_words

_MARGINS = (MEDIUM, SMALL, MEDIUM, SMALL)
_SHOWN = 2  # rows
_LEAST_FIELD = 180  # pixels of a template
_PAUSE = 350  # milliseconds after a key until the file is read again


class TemplateEditor(Card):
    """Takes a valid template shortly after the last key, or "" for a single column; `second` is of the second of two
    lists.
    """

    def __init__(self, drafts: Drafts, *, second: bool = False) -> None:
        super().__init__(inset=True, margins=_MARGINS)
        self._second, self._use_template = second, partial(drafts.choose_template, second=second)
        self._file: OpenFile | None = None  # with the texts
        self._used = ""
        self.field = QLineEdit()
        self.field.setAccessibleName(self.tr("Template for the text"))
        self.field.setPlaceholderText(self.tr("{title}. {body}"))
        self.field.setMinimumWidth(scaled(_LEAST_FIELD))
        self.field.textEdited.connect(self._edited)
        self.field.returnPressed.connect(self._choose)
        self.insert = widgets.MenuButton(self.tr("Insert a column"))
        self.insert.menu().aboutToShow.connect(self._fill_menu)
        self.end_link = LinkButton(self.tr("Use one column"), on_click=lambda: self._use_template(""))
        self.results = widgets.LabelGrid("quiet", "body", stretches=(0, 1), elided=1)
        self.wrong = widgets.Saying("triangle-alert", "attention")
        self._timer = QTimer(self, singleShot=True, interval=_PAUSE)
        self._timer.timeout.connect(self._choose)
        title = Label(self.tr("Text of each row"), "strong")
        title.setBuddy(self.field)
        self.body.addWidget(boxed(Flow(title, self.field, self.insert, self.end_link)))
        self.body.addWidget(self.results)
        self.body.addWidget(self.wrong)

    def show_state(self, state: DraftState) -> None:
        """What is being typed stays."""
        self._file = state.second if self._second else state.texts
        template = template_of(state.mapping, second=self._second) if state.mapping else ""
        self.setVisible(bool(template and self._file))
        if template != self._used:
            self._used = template
            self._timer.stop()
            self.field.setText(template)
        self._show_results()

    def _edited(self) -> None:
        self._show_results()
        self._timer.start()

    def _choose(self) -> None:
        self._timer.stop()
        text = self.field.text()
        if text != self._used and self.wrong.isHidden():
            self._used = text
            self._use_template(text)

    def _show_results(self) -> None:
        columns, sample = (self._file.columns, self._file.sample) if self._file else ((), ())
        found = read_template(self.field.text(), columns)
        self.wrong.set_line(said(found) if isinstance(found, str) else "")
        lines = []
        if not isinstance(found, str):
            nothing = self.tr("nothing: every column of the template is empty here")
            for each in [each for each in sample if not each.problem][:_SHOWN]:
                words = self.tr("Row {n}").format(n=number(each.number))
                lines.append((words, one_line(found.render(each.cells)) or nothing))
        self.results.show_lines(lines)

    def _fill_menu(self) -> None:
        self.insert.menu().clear()
        for name in self._file.columns[:60] if self._file else ():
            self.insert.add(one_line(name, 60).replace("&", "&&"), partial(self._insert, name))

    def _insert(self, name: str) -> None:
        self.field.insert("{" + name + "}")
        self.field.setFocus(Qt.FocusReason.OtherFocusReason)
        self._edited()


def template_of(mapping: Mapping, *, second: bool) -> str:
    return mapping.second_template if second else mapping.template


def proposed_template(mapping: Mapping, columns: tuple[str, ...], *, second: bool) -> str:
    """The columns of the text; with one also that before it that is nothing yet, such as its title."""
    roles = mapping.second_roles if second else mapping.roles
    if roles.count(Role.TEXT) > 1:
        pairs = zip(columns, roles, strict=True)
        return ", ".join("{" + name + "}" for name, role in pairs if role is Role.TEXT and not set(name) & {"{", "}"})
    at = next((index for index, role in enumerate(roles) if role in (Role.TEXT, Role.CONTEXT)), 0)
    first = at - 1 if at and roles[at - 1] in (Role.KEEP, Role.IGNORE) else at
    return ". ".join("{" + name + "}" for name in columns[first : at + 1] if not set(name) & {"{", "}"})


DEFAULT_SPLIT = Split(400, 40)
_LEAST, _MOST = 16, 8_192  # tokens


class SplitEditor(Card):
    def __init__(self, drafts: Drafts) -> None:
        super().__init__(inset=True, margins=_MARGINS)
        self.tokens = _spin(_LEAST, _MOST, 50, self.tr("Tokens of a part"))
        self.overlap = _spin(0, _MOST // 2, 10, self.tr("Tokens that two parts share"))
        self.end_link = LinkButton(self.tr("Do not cut"), on_click=lambda: drafts.choose_mapping(split=None))
        self.about = Label("", "quiet", wrap=True)
        for field in (self.tokens, self.overlap):
            field.valueChanged.connect(lambda _: drafts.choose_mapping(split=self.split()))
        sentence = Flow(
            Label(self.tr("Cut texts of more than"), "strong"),
            self.tokens,
            Label(self.tr("tokens into parts that overlap by")),
            boxed(row(self.overlap, Label(self.tr("tokens")))),
        )
        self.body.addLayout(row((boxed(sentence), 1), self.end_link))
        self.body.addWidget(self.about)

    def split(self) -> Split:
        return Split(self.tokens.value(), min(self.overlap.value(), self.tokens.value() // 2))

    def show_state(self, state: DraftState) -> None:
        split = state.mapping.split if state.mapping else None
        self.setVisible(split is not None and state.file is not None)
        if split is not None:
            with QSignalBlocker(self.tokens), QSignalBlocker(self.overlap):
                self.overlap.setMaximum(split.tokens // 2)
                self.tokens.setValue(split.tokens)
                self.overlap.setValue(split.overlap)
        best, own = self.tr("A text counts as its best part."), self.tr("Each part gets a vector of its own.")
        self.about.setText(best if state.kind is Kind.RANK else own)


def _spin(least: int, most: int, step: int, name: str) -> QSpinBox:
    field = QSpinBox()
    field.setRange(least, most)
    field.setSingleStep(step)
    field.setAccessibleName(name)
    field.setKeyboardTracking(False)
    field.setFixedWidth(scaled(84))
    field.lineEdit().setTextMargins(SMALL, 0, 0, 0)  # the stylesheet does not reach it
    return field


class CandidateChoice(Card):
    def __init__(self, drafts: Drafts) -> None:
        super().__init__(inset=True, margins=_MARGINS)
        self.choice = widgets.Choice(self.tr("Candidates"), on_picked=drafts.choose_candidates)
        question = self.tr("No file says which texts are the candidates of each query. Take:")
        self.body.addWidget(boxed(Flow(widgets.Sentence(question, "strong"), self.choice)))

    def show_state(self, state: DraftState) -> None:
        rule = state.file.source.candidates if state.file else None
        self.setVisible(rule is not None)
        if rule is not None:
            rules = {pool: rule if pool is rule.pool else input_values.CandidateRule(pool) for pool in CandidatePool}
            sample = self.tr("A sample of {n} for each query").format(n=number(rules[CandidatePool.SAMPLE].size))
            words = {
                CandidatePool.JUDGED: self.tr("Judged texts only"),
                CandidatePool.CORPUS: self.tr("The whole corpus"),
                CandidatePool.SAMPLE: sample,
            }
            self.choice.refill((words[pool], each) for pool, each in rules.items())
            self.choice.set_value(rule)


def pop_up(menu: QMenu, below: QWidget) -> QMenu:
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    menu.popup(below.mapToGlobal(QPoint(0, below.height() + 2)))
    return menu


class DropPlace(QFrame):
    """What is shown instead of data."""

    def __init__(self, drafts: DraftActions) -> None:
        super().__init__()
        self.setProperty("kind", "place")
        self._title = Label("", "strong")
        words = self.tr("CSV, Excel and other sheets, plain text, Word, JSON, Parquet, or a folder of texts")
        formats = Label(words, "small", wrap=True)
        formats.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.open_button = widgets.PrimaryButton(self.tr("Open…"), "folder-open", drafts.choose_file)
        self.paste_button = Button(self.tr("Paste"), "clipboard-paste", drafts.paste)
        self.folder_link = LinkButton(self.tr("Open a folder"), on_click=drafts.choose_folder)
        self.example_link = LinkButton(self.tr("Use the example"), on_click=drafts.use_example)
        head = (row(None, IconLabel("file-up", "quiet", 28), None), row(None, self._title, None), formats, SMALL)
        buttons = row(None, self.open_button, self.paste_button, None)
        links = row(None, self.folder_link, Label("·", "quiet"), self.example_link, None)
        self.setLayout(column(None, *head, buttons, links, None, margins=(WIDE,) * 4))
        self.setMinimumHeight(236)

    def show_opening(self, name: str) -> None:
        opening = self.tr("Opening {name}…").format(name=name)
        self._title.setText(opening if name else self.tr("Drop a file here, or a folder"))


_LONGEST_EXAMPLE = 60  # characters


class FilePart(DropTarget):
    """One of the two files: how it is read, and its first rows with the roles of its columns."""

    def __init__(self, drafts: Drafts, at: int, table: PreviewTable | None = None) -> None:
        super().__init__()
        self._drafts, self._at, is_second = drafts, at, at == 1
        self._source: Source  # that of the file, before its links are shown
        self.name = widgets.ElidedLabel("", "strong")
        self.name.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        self.facts = Label("", "quiet")
        self.encoding = LinkButton(tip=self.tr("Read it in another encoding"), on_click=self.open_encoding_menu)
        tip = self.tr("Choose how cells are separated")
        self.separator = LinkButton(tip=tip, on_click=self._open_separator_menu)
        tip = self.tr("Take the first row as data, or as a header")
        self.header = LinkButton(tip=tip, on_click=lambda: self._reread(has_header=not self._source.has_header))
        self.sheet = LinkButton(tip=self.tr("Choose another sheet"), on_click=self._open_sheet_menu)
        tip = self.tr("Leave the hidden rows out, or read them")
        self.hidden = LinkButton(tip=tip, on_click=lambda: self._reread(leaves_hidden=not self._source.leaves_hidden))
        self.remove = LinkButton(on_click=drafts.remove_second)
        self.more = LinkButton(self.tr("Show more rows"), on_click=partial(drafts.show_more, at))
        self._words: dict[LinkButton, Callable[[Source], str]] = {  # "" where there is nothing to change
            self.encoding: inputs.encoding_words,
            self.separator: inputs.separator_words,
            self.header: inputs.header_words,
            self.sheet: inputs.sheet_words,
            self.hidden: inputs.hidden_words,
            self.remove: lambda _: self.tr("Remove") if is_second else "",
        }
        # Each with the dot before it.
        self._links = {link: boxed(row(Label("·", "quiet"), link, gap=SMALL)) for link in self._words}
        self.table = table or PreviewTable()
        choose = drafts.choose_role
        self.table.roles.role_chosen.connect(lambda column, role: choose(column, role, second=is_second))
        self.notice = widgets.Saying("info")
        self.below = column()  # between the line and the preview
        self.setLayout(self._laid_out())

    def _laid_out(self) -> QVBoxLayout:
        self.frame = Card(self.table, inset=True, margins=(MEDIUM, 6, MEDIUM, 6))
        line = boxed(Flow(IconLabel("file-text", "text", 16), self.name, self.facts, *self._links.values()))
        return column(row((line, 1), self.more), self.notice, self.below, self.frame)

    def show_file(self, file: OpenFile, mapping: Mapping, *, rows: int) -> None:
        """`rows` is how many it has, -1 while that is not known."""
        source = self._source = file.source
        columns = plural(len(source.columns), "{n} column", "{n} columns")
        counted = plural(rows, "{n} row", "{n} rows")
        known = ("" if rows < 0 else counted, columns, inputs.format_words(source))
        self.name.setText(source.path.name)
        self.name.updateGeometry()
        self.facts.setText(" · ".join(filter(None, known)))
        self.notice.set_line(" ".join(map(said, source.notices)))
        is_all = len(file.sample) % PREVIEW_ROWS > 0 or not file.sample
        self.more.setVisible(not is_all and len(file.sample) < MOST_PREVIEWED)
        for link, words in self._words.items():
            link.setText(words(source))
            self._links[link].setVisible(bool(link.text()))
        is_second = self._at == 1
        roles = mapping.second_roles if is_second else mapping.roles
        self.table.show_file(file, roles, roles_for(mapping, second=is_second), self._joined(file, mapping))

    def _joined(self, file: OpenFile, mapping: Mapping) -> frozenset[int]:
        is_list, is_second = mapping.layout is Layout.LISTS, self._at == 1
        has_texts = is_list or bool(mapping.second_roles) is is_second
        template = template_of(mapping, second=is_list and is_second)
        found = read_template(template, file.columns) if template and has_texts else ""
        return frozenset() if isinstance(found, str) else found.columns

    def _reread(self, **changes: Any) -> None:
        self._drafts.reread(self._at, **changes)

    def open_encoding_menu(self) -> None:
        self._drafts.tasks.start("encodings", self._offer_encodings(self._source))

    async def _offer_encodings(self, source: Source) -> None:
        """Each with a line of the file as it reads in it."""
        examples, titles = await asyncio.to_thread(readings, source), dict(CHOICES)
        present = next(iter(examples))
        patterns = {codec: self.tr("{encoding} – likely too") for codec in source.other_encodings}
        if source.is_encoding_guessed:
            patterns[present] = self.tr("{encoding} – our guess")
        menu, as_it_is = QMenu(self), examples[present]
        for codec in dict.fromkeys((present, *source.other_encodings, *titles)):
            title = said(titles.get(codec, shown_name(codec)))
            words = patterns.get(codec, "{encoding}").format(encoding=title)
            example = one_line(examples.get(codec, as_it_is), _LONGEST_EXAMPLE).replace("&", "&&")
            read = partial(self._reread, encoding=codec, is_encoding_guessed=False, other_encodings=())
            add_action(menu, f"{words}\t{example}", read, checked=codec == present).setData(codec)
        pop_up(menu, self.encoding)

    def _open_separator_menu(self) -> None:
        menu, source = QMenu(self), self._source
        now = source.separator
        odd = source.likely_separator or now
        for sign, title in (
            *([(odd, inputs.visible(odd))] if odd and odd not in ",;\t| " else []),
            (",", self.tr("Comma  ,")),
            (";", self.tr("Semicolon  ;")),
            ("\t", self.tr("Tab")),
            ("|", self.tr("Bar  |")),
            (" ", self.tr("Space")),
        ):
            read = partial(self._reread, separator=sign, has_header=None, unit=None)
            add_action(menu, title, read, checked=sign == now)
        if source.path.suffix.lower() not in (".csv", ".tsv"):
            menu.addSeparator()
            for unit, title in (
                (FileFormat.LINES, self.tr("One text per line")),
                (FileFormat.PARAGRAPHS, self.tr("One text per paragraph")),
                (FileFormat.WHOLE, self.tr("The whole file is one text")),
            ):
                read = partial(self._reread, separator=None, has_header=None, unit=unit)
                add_action(menu, title, read, checked=source.format == unit)
        pop_up(menu, self.separator)

    def _open_sheet_menu(self) -> None:
        menu, source = QMenu(self), self._source
        for sheet in source.sheets:
            read = partial(self._reread, sheet=sheet, has_header=None)
            add_action(menu, one_line(sheet, 80).replace("&", "&&"), read, checked=sheet == source.sheet)
        pop_up(menu, self.sheet)


_ACROSS = 3  # cards


class WhatSection(widgets.SectionCard):
    """What the job is for; folded to one line, from which something else is chosen."""

    def __init__(self, drafts: Drafts) -> None:
        super().__init__("", unfold=self.tr("Do something else"))
        self.cards: dict[Purpose, widgets.ChoiceCard] = {}
        cards = QGridLayout()
        cards.setSpacing(MEDIUM)
        cards.setContentsMargins(0, 0, 0, 0)
        for at, purpose in enumerate(Purpose):
            words = purpose_words(purpose)
            card = self.cards[purpose] = widgets.ChoiceCard(words.icon, words.title, words.short)
            card.chosen.connect(partial(drafts.choose_purpose, purpose))
            cards.addWidget(card, at // _ACROSS, at % _ACROSS)
            cards.setColumnStretch(at % _ACROSS, 1)
        self.content.addWidget(boxed(cards))
        self.folded_changed.connect(lambda _: self._show_title())
        self._purpose: Purpose | None = None
        self._show_title()

    def show_state(self, state: DraftState, job: Job) -> None:
        purpose = self._purpose = state.purpose(job)
        for each, card in self.cards.items():
            card.set_chosen(each is purpose)
        self.set_done(purpose is not None)
        self.set_summary(purpose_words(purpose).short if purpose else "")
        self._show_title()

    def _show_title(self) -> None:
        purpose = self._purpose if self.is_folded() else None
        self.set_title(purpose_words(purpose).title if purpose else self.tr("What do you want to do?"))


_FEWEST = 3  # rows of a preview, in however low a window
_BESIDE_SECOND = 110  # pixels of a second file without its rows


class FilesSection(widgets.SectionCard):
    """Has the recipes in its first line, and a progress while a file is read."""

    def __init__(self, drafts: DraftActions, title: str) -> None:
        super().__init__(title)
        self._drafts, self._room = drafts, 0
        self._drafts.progressed.connect(self._show_progress)
        self.recipes = RecipesButton(drafts)
        self.actions_row.addWidget(self.recipes)
        self.progress = widgets.ThinProgress()
        policy = self.progress.sizePolicy()
        policy.setRetainSizeWhenHidden(True)  # showing and hiding it moves nothing
        self.progress.setSizePolicy(policy)
        self.progress.hide()

    def _show_progress(self, job_id: str, share: float) -> None:
        if job_id == self._drafts.current and self._drafts.shown.is_reading:
            self.progress.show()
            self.progress.set_parts(round(share * 1000), 1000)

    def hide_progress(self) -> None:
        self.progress.hide()
        self.progress.set_parts(0, 0)


class DataSection(FilesSection):
    def __init__(self, drafts: DraftActions) -> None:
        super().__init__(drafts, self.tr("Your data"))
        self.others = widgets.MenuButton(self.tr("Other data"), "folder-open")
        self.others.add(self.tr("Open a file"), drafts.choose_file, "file-up")
        self.others.add(self.tr("Open a folder"), drafts.choose_folder, "folder")
        self.others.add(self.tr("Paste"), drafts.paste, "clipboard-paste")
        self.actions_row.addWidget(self.others)
        self.drop = DropPlace(drafts)
        self.missing = widgets.NoticeBar("", "attention")
        self.missing.add_link(self.tr("Choose the file"), drafts.choose_file)
        self.parts = self.first, self.second = FilePart(drafts, 0), FilePart(drafts, 1)
        self.sentence_icon = IconLabel("sparkles", "accent", 16)
        self.sentence = widgets.Sentence()
        tip = self.tr("Choose how rows become texts")
        self.change = LinkButton(self.tr("Change"), "", self.open_layout_menu, tip=tip)
        self.add_second = Button("", on_click=self._add_second)
        sentence = boxed(row(self.sentence_icon, self.sentence))
        self.type_query = Button(self.tr("Type one query…"), "pencil", drafts.type_query)
        added = boxed(row(self.add_second, self.type_query, gap=SMALL))  # one below the other would look like two steps
        self.first.below.addWidget(boxed(Flow(sentence, self.change, added)))
        self.template, self.split = TemplateEditor(self._drafts), SplitEditor(self._drafts)
        self.candidates = CandidateChoice(self._drafts)
        for editor in (self.candidates, self.template, self.split):
            editor.hide()
            self.first.below.addWidget(editor)
        above = self.first.frame.body
        above.setContentsMargins(MEDIUM, 2, MEDIUM, 6)
        above.setSpacing(0)
        above.insertWidget(0, self.progress)
        for widget in (self.drop, self.missing, self.first, self.second):
            self.content.addWidget(widget)
        QWidget.setTabOrder(self.others, self._fold)  # the visible order, not that of creation
        for before, after in pairwise((self.first.remove, self.change, self.add_second, self.type_query)):
            QWidget.setTabOrder(before, after)

    def show_state(self, state: DraftState, job: Job) -> None:
        has_data = state.has_data
        self.drop.setVisible(not has_data)
        self.drop.show_opening(state.opening)
        self.missing.setVisible(bool(state.missing))
        still = self.tr("{what} What was read from it before can still be sent.")
        self.missing.set_text(still.format(what=said(state.missing)), "attention")
        self.first.setVisible(state.file is not None)
        self.second.setVisible(state.second is not None)
        self.set_room(self._room)
        self.recipes.setVisible(state.file is not None)
        self.others.setVisible(has_data)
        if has_data:
            self._show_files(state, job)
        is_done = has_data and not state.incomplete
        if not is_done:
            self.set_folded(False)
        self.set_done(is_done)

    def set_room(self, pixels: int) -> None:
        """How much the previews may have of it, shared by both."""
        self._room = pixels
        parts = [part for part in (self.first, self.second) if not part.isHidden()]
        for part in parts:
            rows = (pixels - (len(parts) - 1) * scaled(_BESIDE_SECOND)) // len(parts) // scaled(PREVIEW_ROW_HEIGHT)
            part.table.set_most_rows(max(_FEWEST, rows))

    def _show_files(self, state: DraftState, job: Job) -> None:
        file, mapping = state.file, state.mapping
        facts = plural(job.rows_in, "{n} row", "{n} rows")
        if file is not None and mapping is not None:
            self.first.show_file(file, mapping, rows=job.rows_in if state.is_read else -1)
        if state.second is not None and mapping is not None:
            self.second.show_file(state.second, mapping, rows=-1)
        self.add_second.setVisible(state.kind is Kind.RANK and file is not None and state.second is None)
        kind, icon_role = ("link", "accent") if state.missing_file is None else ("plain", "text")
        widgets.restyle(self.add_second, "kind", kind)
        self.add_second.set_icon("file-up", icon_role)
        self.type_query.setVisible(state.missing_file is Role.QUERY)
        queries, second = self.tr("Add the file of queries…"), self.tr("Add the second file…")
        self.add_second.setText(queries if state.missing_file is Role.QUERY else second)
        self.candidates.show_state(state)
        self.template.show_state(state)
        self.split.show_state(state)
        if not state.is_reading:
            self.hide_progress()
        sentence = said(state.incomplete) or self._sentence(state, job)
        self.sentence_icon.set_icon(*(("circle-dot", "attention") if state.incomplete else ("sparkles", "accent")))
        self.sentence.setText(sentence)
        self.sentence.set_role("attention" if state.incomplete else "body")
        self.sentence.updateGeometry()
        name = file.path.name if file else job.source_name
        self.set_summary(" · ".join(filter(None, (name, facts if state.is_read else "", sentence))))

    def _sentence(self, state: DraftState, job: Job) -> str:
        if state.mapping is None:
            return ""
        if not state.is_read:  # the counts are still those of the reading before
            return self.tr("{layout} …").format(layout=said(describe_layout(state.mapping)))
        return said(describe(state.mapping, job.queries, job.texts))

    def _add_second(self) -> None:
        self._drafts.choose_file(self._drafts.shown.missing_file or Role.CONTEXT)

    def _begin_template(self) -> None:
        state = self._drafts.shown
        if state.mapping is not None and state.texts is not None and not state.mapping.template:
            is_second = state.second is not None
            self._drafts.choose_template(proposed_template(state.mapping, state.texts.columns, second=is_second))
        self.template.field.setFocus(Qt.FocusReason.OtherFocusReason)

    def open_layout_menu(self) -> QMenu:
        menu, drafts = QMenu(self), self._drafts
        state = drafts.shown
        mapping, file = state.mapping, state.file
        if mapping is not None and file is not None:
            for layout in _layouts(mapping, has_second=state.second is not None):
                words = said(describe_layout(with_layout(mapping, layout)))
                add_action(menu, words, partial(drafts.choose_layout, layout), checked=layout is mapping.layout)
            menu.addSeparator()
            if len(file.columns) > 1:
                join = self.tr("Join several columns to one text…")
                act = partial(drafts.choose_template, "") if mapping.template else self._begin_template
                add_action(menu, join, act, checked=bool(mapping.template))
            is_split = mapping.split is not None
            split = partial(drafts.choose_mapping, split=None if is_split else DEFAULT_SPLIT)
            add_action(menu, self.tr("Cut long texts into parts…"), split, checked=is_split)
        return pop_up(menu, self.change)


def _layouts(mapping: Mapping, *, has_second: bool) -> tuple[Layout, ...]:
    if mapping.kind is Kind.EMBED:
        return (mapping.layout,)
    if mapping.layout in (Layout.SHARED, Layout.CANDIDATES):
        return (Layout.SHARED, Layout.CANDIDATES) if has_second else (mapping.layout,)
    can_be_wide = mapping.layout is Layout.WIDE or mapping.roles.count(Role.CONTEXT) > 1
    judged = (Layout.JUDGED,) if mapping.layout is Layout.JUDGED else ()
    return (Layout.LONG, *((Layout.WIDE,) if can_be_wide else ()), Layout.NESTED, *judged)


def roles_for(mapping: Mapping, *, second: bool) -> tuple[Role, ...]:
    common = (Role.ID, Role.LABEL, Role.KEEP, Role.IGNORE)
    if mapping.kind is Kind.EMBED:
        return (Role.TEXT, Role.ID, Role.KEEP, Role.IGNORE) if second else (Role.TEXT, *common)
    if second:
        return (Role.CONTEXT, Role.ID, Role.KEEP, Role.IGNORE)
    if mapping.layout in (Layout.SHARED, Layout.CANDIDATES):
        return (Role.QUERY, *common)
    own = (Role.QUERY_ID,) if mapping.layout is Layout.LONG else ()
    return (Role.QUERY, Role.CONTEXT, *own, *common)
