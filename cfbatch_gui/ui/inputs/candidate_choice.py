"""The choice of the texts that are ranked for each query of a data set that has judgements and no run."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QButtonGroup, QRadioButton, QWidget

from cfbatch_gui.core.inputs.input_values import CandidatePool, CandidateRule, Kind
from cfbatch_gui.core.jobs.plan.candidate_offers import CandidateOffer, with_known
from cfbatch_gui.ui.display import dollars, number, plural
from cfbatch_gui.ui.inputs.draft_state import DraftState
from cfbatch_gui.ui.theme import MEDIUM, SMALL
from cfbatch_gui.ui.widgets import Card, ElidedLabel, Label, row

_LEAST_SHOWN = 0.001  # dollars; for less it is said that it is less


class CandidateChoice(Card):
    """Three lines, each with what it comes to. `rule_chosen` carries the CandidateRule that the user has chosen."""

    rule_chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(inset=True, parent=parent)
        self._rules: dict[CandidatePool, CandidateRule] = {}
        self.question = Label(
            self.tr("No file says which texts are the candidates of each query. Take:"), "strong", wrap=True
        )
        self.body.setContentsMargins(MEDIUM, SMALL, MEDIUM, SMALL)
        self.body.setSpacing(SMALL)
        self.body.addWidget(self.question)
        self._group = QButtonGroup(self)
        self.choices: dict[CandidatePool, QRadioButton] = {}
        self.figures: dict[CandidatePool, ElidedLabel] = {}
        for pool in CandidatePool:
            choice = self.choices[pool] = QRadioButton()
            figures = self.figures[pool] = ElidedLabel("", "quiet")
            self._group.addButton(choice)
            choice.clicked.connect(lambda _checked=False, pool=pool: self.rule_chosen.emit(self._rules[pool]))
            line = row(choice, figures, gap=SMALL)
            line.setStretch(1, 1)
            self.body.addLayout(line)

    def show_state(self, state: DraftState, *, is_practice: bool) -> None:
        """Show the choice for a data set without a run; hidden for any other file."""
        rule = state.file.source.candidates if state.file else None
        self.setVisible(rule is not None)
        if rule is None:
            return
        is_planned = state.is_read and not state.is_reading and state.preflight is not None
        offers = with_known(state.offers, rule, state.preflight) if is_planned and state.preflight else state.offers
        known = {each.rule.pool: each for each in offers}
        for pool in CandidatePool:
            self._rules[pool] = rule if pool is rule.pool else CandidateRule(pool)
            if pool is not rule.pool and pool in known:
                self._rules[pool] = known[pool].rule
            words = self._words(self._rules[pool])
            offer = known.get(pool)
            is_current = offer is not None and offer.rule == self._rules[pool]
            figures = self._figures(offer, state.kind, is_practice) if offer and is_current else self.tr("counting …")
            choice = self.choices[pool]
            choice.setText(words)
            choice.setAccessibleName(self.tr("{choice} · {figures}").format(choice=words, figures=figures))
            choice.setChecked(pool is rule.pool)
            self.figures[pool].setText(self.tr("· {figures}").format(figures=figures))

    def _words(self, rule: CandidateRule) -> str:
        if rule.pool is CandidatePool.JUDGED:
            return self.tr("Judged texts only")
        if rule.pool is CandidatePool.CORPUS:
            return self.tr("The whole corpus")
        return self.tr("A sample of {n} for each query").format(n=number(rule.size))

    def _figures(self, offer: CandidateOffer, kind: Kind | None, is_practice: bool) -> str:
        is_ranking = kind is not Kind.EMBED
        pairs = (
            plural(offer.pairs, "{n} pair", "{n} pairs") if is_ranking else plural(offer.pairs, "{n} text", "{n} texts")
        )
        parts = [pairs, self._cost(offer, is_practice)]
        if is_ranking and offer.are_all_relevant:
            parts.append(self.tr("nothing can be measured: every candidate is relevant"))
        elif is_ranking and offer.measures_nothing:
            parts.append(self.tr("nothing can be measured: all candidates of a query have the same grade"))
        return " · ".join(parts)

    def _cost(self, offer: CandidateOffer, is_practice: bool) -> str:
        if is_practice:
            return self.tr("about {n} tokens").format(n=number(offer.tokens_high))
        price = dollars(offer.price_high.dollars)
        return price if offer.price_high.dollars < _LEAST_SHOWN else self.tr("about {price}").format(price=price)
