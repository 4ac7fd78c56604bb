"""The first part of a draft: what to do."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.ui.inputs.draft_state import DraftState
from cfbatch_gui.ui.inputs.input_words import kind_words
from cfbatch_gui.ui.theme import MEDIUM
from cfbatch_gui.ui.widgets import ChoiceCard, SectionCard, row


class WhatSection(SectionCard):
    """Two big choices; `chosen` brings the kind."""

    chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(self.tr("What do you want to do?"), parent=parent)
        self.rank = ChoiceCard(
            "list-ordered", kind_words(Kind.RANK), self.tr("Best matches first, with a score for each")
        )
        self.embed = ChoiceCard("waypoints", kind_words(Kind.EMBED), self.tr("For search, clustering and maps"))
        self.rank.chosen.connect(lambda: self.chosen.emit(Kind.RANK))
        self.embed.chosen.connect(lambda: self.chosen.emit(Kind.EMBED))
        self.content.addLayout(row(self.rank, self.embed, gap=MEDIUM))

    def show_state(self, state: DraftState) -> None:
        """Mark the kind, chosen or guessed."""
        self.rank.set_chosen(state.kind is Kind.RANK)
        self.embed.set_chosen(state.kind is Kind.EMBED)
        self.set_done(state.kind is not None)
        self.set_summary(kind_words(state.kind) if state.kind else "")
