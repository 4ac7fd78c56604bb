"""The first two parts of a draft: what to do, and with which data."""

from dataclasses import replace
from functools import partial

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QMenu, QWidget

from cfbatch_gui.core.inputs.input_values import Kind, Layout, Role, Split
from cfbatch_gui.core.inputs.layouts import describe, with_template
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.core.workers_ai.connection_kinds import PRACTICE
from cfbatch_gui.ui.display import plural
from cfbatch_gui.ui.inputs.draft_actions import RecipesButton
from cfbatch_gui.ui.inputs.draft_files import DraftChoices, DraftFiles
from cfbatch_gui.ui.inputs.draft_state import DraftState, OpenFile
from cfbatch_gui.ui.inputs.encoding_question import EncodingChooser
from cfbatch_gui.ui.inputs.file_part import FilePart
from cfbatch_gui.ui.inputs.input_labels import kind_words, layout_words
from cfbatch_gui.ui.inputs.intake import DropPlace, Intake
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
    ChoiceCard,
    Flow,
    IconButton,
    IconLabel,
    Label,
    LinkButton,
    NoticeBar,
    SectionCard,
    Sentence,
    ThinProgress,
    add_action,
    boxed,
    row,
)


class WhatSection(SectionCard):
    def __init__(self, choices: DraftChoices) -> None:
        super().__init__(self.tr("What do you want to do?"))
        self.rank = ChoiceCard(
            "list-ordered", kind_words(Kind.RANK), self.tr("Best matches first, with a score for each")
        )
        self.embed = ChoiceCard("waypoints", kind_words(Kind.EMBED), self.tr("For search, clustering and maps"))
        self.rank.chosen.connect(lambda: choices.choose_kind(Kind.RANK))
        self.embed.chosen.connect(lambda: choices.choose_kind(Kind.EMBED))
        self.content.addLayout(row((self.rank, 1), (self.embed, 1), gap=MEDIUM))  # equally wide, whatever they say

    def show_state(self, state: DraftState) -> None:
        self.rank.set_chosen(state.kind is Kind.RANK)
        self.embed.set_chosen(state.kind is Kind.EMBED)
        self.set_done(state.kind is not None)
        self.set_summary(kind_words(state.kind) if state.kind else "")


class DataSection(SectionCard):
    """What the user does changes the `DraftState`, which comes back by `show_state`."""

    def __init__(self, recipes: RecipesButton, choices: DraftChoices, files: DraftFiles, intake: Intake) -> None:
        super().__init__(self.tr("Your data"))
        self._state = DraftState()
        self.recipes, self._choices, self._files, self._intake = recipes, choices, files, intake
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
        self.first, self.second = FilePart(files, choices), FilePart(files, choices, is_second=True)
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
        self.first.below.addWidget(boxed(Flow(sentence, self.add_second, self.change)))
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
        self.undo = LinkButton(self.tr("Undo"), "", self._choices.suggest_again, tip=tip)
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
        queries, second = self.tr("Add the file of queries…"), self.tr("Add the second file…")
        self.add_second.setText(queries if missing is Role.QUERY else second)
        self.known.setVisible(state.as_before)
        self.candidates.show_state(state, is_practice=job.connection == PRACTICE.id)
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
                self.split.show_file(file, mapping, mapping.split, second=file is state.second)
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
            self._choices.choose_mapping(with_template(mapping, template))

    def _choose_split(self, split: Split | None) -> None:
        if self._state.mapping is not None:
            self._choices.choose_mapping(replace(self._state.mapping, split=split))

    def open_layout_menu(self) -> QMenu:
        menu = QMenu(self)
        state = self._state
        mapping, file = state.mapping, state.file
        if mapping is not None and file is not None:
            for layout in self._layouts():
                choose = partial(self._choices.choose_layout, layout)
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
