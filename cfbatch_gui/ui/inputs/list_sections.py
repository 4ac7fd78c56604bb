"""The parts of a draft that compares two lists: both of them side by side, and how they are matched."""

from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QMenu, QSizePolicy, QVBoxLayout, QWidget

from cfbatch_gui.core.inputs.input_values import Source
from cfbatch_gui.core.jobs.states import MOST_BEST, Job, Purpose
from cfbatch_gui.core.results.categories import parse_categories
from cfbatch_gui.ui import widgets
from cfbatch_gui.ui.inputs import data_section, draft_state
from cfbatch_gui.ui.inputs.data_section import TemplateEditor, template_of
from cfbatch_gui.ui.inputs.draft_actions import DraftActions
from cfbatch_gui.ui.inputs.draft_state import DraftState
from cfbatch_gui.ui.inputs.preview_table import PreviewTable
from cfbatch_gui.ui.theme import LARGE, MEDIUM, SMALL, scaled
from cfbatch_gui.ui.widgets import Button, Card, CheckBox, Flow, IconLabel, Label, LinkButton, boxed, column, row
from cfbatch_gui.ui.widgets.category_lines import CategoryLines
from cfbatch_gui.ui.widgets.keyboard import follow_in_tab_order
from cfbatch_gui.words import inputs
from cfbatch_gui.words.figures import Runs, number, one_line, plural
from cfbatch_gui.words.languages import said

_BADGE = 24  # pixels
_HEAD_HEIGHT = 30
_ROW_HEIGHT, _LEAST_COLUMN = 30, 86
_LEAST_PART = 400  # pixels of a list; in a narrower page B stands below A
_ONE_LINE = 990  # pixels; in a narrower page links and limits take two lines
_MOST_ROWS, _FEWEST_ROWS = 8, 2


class ListPart(data_section.FilePart):
    """List A or list B, or ways to bring it."""

    def __init__(self, drafts: DraftActions, at: int) -> None:
        self._actions, self._list = drafts, "AB"[at]
        super().__init__(drafts, at, PreviewTable(row_height=_ROW_HEIGHT, least=_LEAST_COLUMN))
        words = self.tr("Drop it to use it as list {list}").format(list=self._list)
        self.take_drops(self, words, partial(drafts.take, at=at))
        self.setMinimumWidth(scaled(_LEAST_PART))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def _laid_out(self) -> QVBoxLayout:
        drafts, at = self._actions, self._at
        badge = IconLabel(("list-a", "list-b")[at], "accent", _BADGE)
        badge.setAccessibleName(self.tr("List {list}").format(list=self._list))
        self.part = Label("", "small")
        words = self.tr("Open another file as list {list}").format(list=self._list)
        self.open_button = widgets.IconButton("folder-open", words, partial(drafts.choose_list, at))
        words = self.tr("Paste list {list}").format(list=self._list)
        self.paste_button = widgets.IconButton("clipboard-paste", words, partial(drafts.paste, at))
        self._words.pop(self.remove)  # the menu of the section removes it
        order = (self.header, self.sheet, self.separator, self.hidden, self.encoding)
        self.type_instead = LinkButton(self.tr("Type them instead"), on_click=self._type_instead)
        for link in (*order, self.more, self.type_instead):
            link.setProperty("small", "true")
        links = boxed(Flow(self.part, *(self._links[link] for link in order), self.more, self.type_instead))
        below = boxed(row(_BADGE + SMALL, links, gap=0))
        self._head = boxed(row(badge, self.name, (self.facts, 1), self.open_button, self.paste_button))
        self.table.setAccessibleName(self.tr("First rows of list {list}").format(list=self._list))
        self._head.setMinimumHeight(scaled(_HEAD_HEIGHT))
        self._read = boxed(column(below, self.notice, self.below, self.table, None, gap=6))
        parts = (self._head, self._read, self._place(), (self._typing(), 100), None)
        self.frame = Card(*parts, inset=True, gap=4, margins=(14, SMALL, 14, SMALL))
        return column(self.frame, gap=0)

    def _place(self) -> QWidget:
        """What is shown instead of a list."""
        drafts, at = self._actions, self._at
        self.missing = Label("", "quiet", wrap=True)
        self.open_first = Button(self.tr("Open…"), "folder-open", partial(drafts.choose_list, at))
        self.paste_first = Button(self.tr("Paste"), "clipboard-paste", partial(drafts.paste, at))
        self.sheets = widgets.MenuButton("", "table")
        self.same = LinkButton(self.tr("Take the same list"), on_click=drafts.relate)
        self.example = LinkButton(self.tr("Use the example"), on_click=drafts.use_example)
        if at != 0:
            self.example.hide()
        self.open_first.setAccessibleName(self.tr("Open list {list}").format(list=self._list))
        self.paste_first.setAccessibleName(self.paste_button.accessibleName())
        ways = Flow(self.open_first, self.paste_first, self.sheets, self.same, self.example)
        self._empty = boxed(column(self.missing, boxed(ways), gap=MEDIUM, margins=(_BADGE + SMALL, 0, 0, SMALL)))
        return self._empty

    def _typing(self) -> QWidget:
        """The field in which categories are typed instead of a list B."""
        self.typed = CategoryLines(self._actions.type_categories)
        self.open_instead = LinkButton(self.tr("Open a file…"), on_click=partial(self._actions.choose_list, self._at))
        self.open_instead.setProperty("small", "true")
        words = Flow(Label(self.tr("gives the categories"), "small"), Label("·", "quiet"), self.open_instead)
        self._typed = boxed(column(row(_BADGE + SMALL, boxed(words), gap=0), (self.typed, 1), gap=6))
        self._typed_for = ""  # the job whose categories stand there
        self.typed.field.textChanged.connect(self._keep_typed)
        return self._typed

    def _keep_typed(self) -> None:
        self._typed_for = self._actions.current

    def _type_instead(self) -> None:
        self._actions.remove_second()
        self.typed.field.setFocus(Qt.FocusReason.OtherFocusReason)
        self._actions.type_categories(self.typed.text())

    def show_state(self, state: DraftState, job: Job) -> None:
        file = state.files[self._at] if self._at < len(state.files) else None
        mapping, is_categories = state.mapping, job.options.purpose is Purpose.CATEGORIES
        is_typed = self._at == 1 and is_categories and (file is None or state.typed is not None)
        for part in (self._read, self.open_button, self.paste_button):
            part.setVisible(file is not None and not is_typed)
        self._empty.setVisible(file is None and not is_typed)
        self._typed.setVisible(is_typed)
        self.type_instead.setVisible(self._at == 1 and is_categories)
        if is_typed:
            self._show_typed(state, job)
            return
        if file is not None and mapping is not None:
            counted = state.counted(job) if state.is_read else None
            self.show_file(file, mapping, rows=counted.rows[self._at] if counted else -1)
            self._links[self.encoding].setVisible(bool(self.encoding.text()) and not _is_utf8(file.source))
            gives = self.tr("gives the categories") if is_categories else self.tr("gives the matches")
            self.part.setText(gives if self._at else self.tr("comes back with new columns"))
            return
        self.facts.setText("")
        self.name.setText(self.tr("List {list}").format(list=self._list))
        self._show_ways(state, is_categories=is_categories)

    def _show_typed(self, state: DraftState, job: Job) -> None:
        """What is typed stays; another job has its own categories."""
        file = state.typed
        if self._typed_for != job.id:
            self.typed.show_text(draft_state.typed_lines(file) if file is not None else "")
            self._typed_for = job.id if file is not None else ""
        count = len(parse_categories([each.cells[0] for each in file.sample])) if file is not None else 0
        self.name.setText(self.tr("Categories"))
        self.facts.setText(plural(count, "{n} category", "{n} categories") if count else "")

    def _show_ways(self, state: DraftState, *, is_categories: bool) -> None:
        """What is missing, and the ways to bring it."""
        if self._at != 0:
            words = self.tr("The list that gives the matches is missing. Drop it here.")
        elif is_categories:
            words = self.tr("Your list, which comes back with new columns. Drop it here.")
        else:
            words = self.tr("Your list, which comes back with new columns. Drop both lists here together, or one each.")
        self.missing.setText(words)
        first = state.file if self._at else None
        others = [sheet for sheet in first.source.sheets if sheet != first.source.sheet] if first else []
        self.sheets.setVisible(bool(others))
        self.same.setVisible(first is not None)
        self.sheets.menu().clear()
        if first is not None:
            self.sheets.setText(self.tr("Another sheet of {name}…").format(name=one_line(first.path.name, 30)))
            for sheet in others:
                self.sheets.add(one_line(sheet, 80).replace("&", "&&"), partial(self._actions.add_sheet, sheet))


def _is_utf8(source: Source) -> bool:
    """What is in UTF-8 could hardly be in another encoding."""
    return source.encoding.startswith("utf-8") and not source.is_encoding_guessed


class ListsSection(data_section.FilesSection):
    """Both lists, and in words what is compared with what."""

    def __init__(self, drafts: DraftActions) -> None:
        super().__init__(drafts, self.tr("Your two lists"))
        self.swap_button = Button(self.tr("Swap A and B"), "refresh-cw", drafts.swap)
        self.actions_row.addWidget(self.swap_button)
        self.sentence_icon = IconLabel("sparkles", "accent", 16)
        self.sentence = widgets.Phrase()
        tip = self.tr("Choose how the text of a row is made")
        self.change = LinkButton(self.tr("Change"), "", self.open_menu, tip=tip)
        self.parts = (ListPart(drafts, 0), ListPart(drafts, 1))
        self.templates = (TemplateEditor(drafts), TemplateEditor(drafts, second=True))
        for part, template in zip(self.parts, self.templates, strict=True):
            part.below.addWidget(template)
            template.hide()
            follow_in_tab_order(part.more, template.field, template.insert, template.end_link)
        words = boxed(row(self.sentence_icon, self.sentence))
        self._line, parts = boxed(Flow(words, self.change, gap=MEDIUM)), boxed(Flow(*self.parts, gap=MEDIUM))
        self.content.addWidget(boxed(column(self._line, self.progress, parts, gap=2)))
        self.content.setContentsMargins(0, 0, 0, 0)
        QWidget.setTabOrder(self.swap_button, self._fold)  # the visible order, not that of creation

    def show_state(self, state: DraftState, job: Job) -> None:
        is_categories = job.options.purpose is Purpose.CATEGORIES
        self.set_title(self.tr("Your list and your categories") if is_categories else self.tr("Your two lists"))
        self.swap_button.setVisible(state.second is not None and not is_categories)
        self.recipes.setVisible(state.file is not None)
        self.parts[1].setVisible(not state.is_related)
        for part, template in zip(self.parts, self.templates, strict=True):
            part.show_state(state, job)
            template.show_state(state)
        if not state.is_reading:
            self.hide_progress()
        is_done = state.file is not None and not state.incomplete
        self._show_sentence(state, is_categories=is_categories)
        if not is_done:
            self.set_folded(False)
        self.set_done(is_done and not state.wants_second_list(job))
        names = (one_line(each.path.name, 40) for each in state.files)
        self.set_summary(" · ".join((*names, self.sentence.text())))
        self._fit_rows()

    def set_room(self, pixels: int) -> None:
        """How much the previews may have of it."""
        self._room = pixels
        self._fit_rows()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_rows()

    def _fit_rows(self) -> None:
        is_stacked = self.parts[1].isVisibleTo(self) and self.width() < 2 * scaled(_LEAST_PART) + 5 * MEDIUM
        wrapped = 2 * (self.width() < scaled(_ONE_LINE))
        rows = _FEWEST_ROWS if is_stacked else self._room // scaled(_ROW_HEIGHT) - wrapped
        for part in self.parts:
            part.table.set_most_rows(max(_FEWEST_ROWS, min(_MOST_ROWS, rows)))

    def _show_sentence(self, state: DraftState, *, is_categories: bool) -> None:
        mapping, columns = state.mapping, [each.columns for each in state.files]
        runs: Runs = ()
        if mapping is not None and columns:
            runs = inputs.lists_words(mapping, *columns, is_categories=is_categories)
        wrong = said(state.incomplete)
        self.sentence.set_runs(((wrong, False),) if wrong else runs)
        self.sentence.set_role("attention" if wrong else "strong")
        self.sentence_icon.set_icon(*(("circle-dot", "attention") if wrong else ("sparkles", "accent")))
        self._line.setVisible(bool(columns))

    def open_menu(self) -> QMenu:
        menu, drafts = QMenu(self), self._drafts
        state = drafts.shown
        for at, file in enumerate(state.files if state.typed is None else state.files[:1]):
            is_joined = state.mapping is not None and bool(template_of(state.mapping, second=at == 1))
            words = self.tr("Join columns of {list} by a template…").format(list="AB"[at])
            action = widgets.add_action(menu, words, partial(self._toggle_template, at), checked=is_joined)
            action.setEnabled(len(file.columns) > 1 or is_joined)
        if state.second is not None and state.typed is None:
            menu.addSeparator()
            widgets.add_action(menu, self.tr("Remove list B"), drafts.remove_second, "x")
        return data_section.pop_up(menu, self.change)

    def _toggle_template(self, at: int) -> None:
        mapping = self._drafts.shown.mapping
        if mapping is not None:
            is_second, columns = at == 1, self._drafts.shown.files[at].columns
            used = template_of(mapping, second=is_second)
            template = "" if used else data_section.proposed_template(mapping, columns, second=is_second)
            self._drafts.choose_template(template, second=is_second)
            self.templates[at].field.setFocus(Qt.FocusReason.OtherFocusReason)


class LimitChoice(QWidget):
    """A box that, when it is ticked, has a choice of the columns that both lists have."""

    def __init__(self, drafts: DraftActions, limit: str, words: str) -> None:
        super().__init__()
        self._drafts, self._limit, self._words, self._usual = drafts, limit, words, ""
        self.box = CheckBox(words)
        self.box.clicked.connect(lambda on: self._choose(self._usual if on else ""))
        self.choice = widgets.Choice(words, on_picked=self._choose)
        self.setLayout(row(self.box, self.choice))

    def _choose(self, name: str) -> None:
        self._drafts.choose_matching(**{self._limit: name})

    def show_state(self, state: DraftState, chosen: str, other: str) -> None:
        """Not with the column that the `other` limit has, which would leave no row."""
        names = [name for name in state.shared_columns if name != other]
        sample = state.file.sample[:_SAMPLE] if state.file else ()
        columns = state.file.columns if state.file else ()
        different = {name: len({row.cells[columns.index(name)] for row in sample}) for name in names}
        self._usual = min(names, key=lambda name: different[name], default="")
        why_not = "" if names else self.tr("The lists have no column of the same name for this.")
        self.box.setEnabled(bool(names))
        self.box.setToolTip(why_not)
        self.box.setAccessibleDescription(why_not)
        self.box.setChecked(bool(chosen))
        self.box.setText(self._words if chosen else f"{self._words}…")
        self.choice.refill((one_line(name, 30), name) for name in names)
        self.choice.set_value(chosen)
        self.choice.setVisible(bool(chosen))


_SAMPLE = 50  # rows


class MatchSection(Card):
    """How lists are matched; nothing of it is sent."""

    def __init__(self, drafts: DraftActions) -> None:
        super().__init__(margins=(20, MEDIUM, 20, MEDIUM))
        title = boxed(row(IconLabel("circle-check", "done", 18), Label(self.tr("How to match"), "part"), None))
        self.each_once = CheckBox(self.tr("Each row of B only once"))
        self.each_once.clicked.connect(lambda on: drafts.choose_matching(each_once=on))
        self.not_within = LimitChoice(drafts, "not_within", self.tr("Not with the same value in"))
        self.within = LimitChoice(drafts, "within", self.tr("Only with the same value in"))
        counts = [(number(count), count) for count in range(1, MOST_BEST + 1)]
        self.best = widgets.Choice(self.tr("Keep the best"), counts, lambda best: drafts.choose_matching(best=best))
        kept = boxed(row(None, Label(self.tr("Keep the best"), "quiet"), self.best))  # at the right, on any line
        line = Flow(title, self.each_once, self.not_within, self.within, kept, gap=LARGE)
        self.body.addWidget(boxed(line))

    def show_state(self, state: DraftState, job: Job) -> None:
        options = job.options.matching
        self.each_once.setVisible(state.second is not None)
        self.each_once.setChecked(options.each_once)
        self.not_within.show_state(state, options.not_within, options.within)
        self.within.show_state(state, options.within, options.not_within)
        self.best.set_value(options.best)
