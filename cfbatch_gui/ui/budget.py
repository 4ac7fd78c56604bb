"""The amounts that may be spent without asking again, and the question before anything is sent above them."""

import math
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QLocale, Signal
from PySide6.QtWidgets import QLineEdit, QSizePolicy, QWidget

from cfbatch_gui.core.errors import OverBudget
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.settings import Budget
from cfbatch_gui.ui import dialogs
from cfbatch_gui.ui.theme import scaled
from cfbatch_gui.ui.widgets import Choice, Flow, Label, boxed, row
from cfbatch_gui.words.languages import said, tr


class BudgetFields(QWidget):
    """Two amounts and their unit; `budget_chosen` carries a Budget."""

    budget_chosen = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._budget = Budget()
        self.setAccessibleName(self.tr("Ask before spending more than"))
        self.a_job, self.a_day = _amount(self.tr("Budget for a job")), _amount(self.tr("Budget for a day"))
        units = ((self.tr("dollars"), "dollars"), (self.tr("neurons"), "neurons"))
        self.unit = Choice(self.tr("Unit of the budget"), units, lambda unit: self._change(unit=unit))
        self.a_job.editingFinished.connect(lambda: self._change(a_job=_read(self.a_job, self._budget.a_job)))
        self.a_day.editingFinished.connect(lambda: self._change(a_day=_read(self.a_day, self._budget.a_day)))
        self.setLayout(
            Flow(
                boxed(row(self.a_job, Label(self.tr("per job,")))),
                boxed(row(self.a_day, Label(self.tr("per day, in")), self.unit)),
            )
        )

    def show_budget(self, budget: Budget) -> None:
        """What is being typed stays."""
        self._budget = budget
        self.unit.set_value(budget.unit)
        for field, amount in ((self.a_job, budget.a_job), (self.a_day, budget.a_day)):
            if not (field.hasFocus() and field.isModified()):
                field.setText(_shown(amount) if amount else "")

    def _change(self, **changes: Any) -> None:
        budget = replace(self._budget, **changes)
        is_other = budget != self._budget
        self.show_budget(budget)
        if is_other:
            self.budget_chosen.emit(budget)


def _amount(name: str) -> QLineEdit:
    field = QLineEdit()
    field.setPlaceholderText(tr("no limit"))
    field.setAccessibleName(name)
    field.setFixedWidth(scaled(120))
    field.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)  # or the lines of a flow spread
    return field


def _shown(amount: float) -> str:
    locale = QLocale()
    locale.setNumberOptions(QLocale.NumberOption.OmitGroupSeparator)
    return locale.toString(amount, "f", QLocale.FloatingPointPrecisionOption.FloatingPointShortest)


def _read(field: QLineEdit, before: float) -> float:
    """0.0 for an empty field; what is no amount leaves the one before. Comma and point are both the decimal sign."""
    field.setModified(False)
    text = field.text().strip().replace(",", ".")
    try:
        amount = float(text or 0.0)
    except ValueError:
        return before
    return amount if 0 <= amount < math.inf else before


async def may_cost(page: QWidget, why: str) -> bool:
    """`why` is the sentence that says by how much the budget is exceeded; True when confirmed."""
    text = tr("{why} Prices are before what is free in a day.").format(why=why)
    return await dialogs.ask(page, tr("Send above your budget?"), text, accept=tr("Send anyway"), danger=True)


async def send_within_budget(page: QWidget, program: Program, job_id: str, *numbers: int) -> None:
    """Call `Program.send_again`; above the budget, call it again only if the user confirms."""
    try:
        await program.send_again(job_id, *numbers)
    except OverBudget as error:
        if await may_cost(page.window(), said(error.message)):
            await program.send_again(job_id, *numbers, budget=Budget())
