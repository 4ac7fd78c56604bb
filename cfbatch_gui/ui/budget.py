"""The amounts that may be spent without asking again, and the question before anything is sent above them."""

from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import Signal
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QDoubleSpinBox, QWidget

from cfbatch_gui.core.errors import OverBudget
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.settings import Budget
from cfbatch_gui.ui import dialogs
from cfbatch_gui.ui.theme import SMALL, scaled
from cfbatch_gui.ui.widgets import Choice, Flow, Label, boxed, row
from cfbatch_gui.words.languages import said, tr

_MOST = 10_000_000.0


class BudgetFields(QWidget):
    """Two amounts and their unit; `budget_chosen` carries a Budget."""

    budget_chosen = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._budget = Budget()
        self.setAccessibleName(self.tr("Ask before spending more than"))
        self.a_job = _Amount(self.tr("no limit"), self.tr("Budget for a job"))
        self.a_day = _Amount(self.tr("no limit"), self.tr("Budget for a day"))
        units = ((self.tr("dollars"), "dollars"), (self.tr("neurons"), "neurons"))
        self.unit = Choice(self.tr("Unit of the budget"), units, self._changing("unit"))
        self.a_job.valueChanged.connect(self._changing("a_job"))
        self.a_day.valueChanged.connect(self._changing("a_day"))
        self.setLayout(
            Flow(
                boxed(row(self.a_job, Label(self.tr("per job,")))),
                boxed(row(self.a_day, Label(self.tr("per day, in")), self.unit)),
            )
        )

    def show_budget(self, budget: Budget) -> None:
        self._budget = budget
        self.unit.set_value(budget.unit)
        for field, amount in ((self.a_job, budget.a_job), (self.a_day, budget.a_day)):
            field.show_amount(amount, decimals=2 if budget.unit == "dollars" else 0)

    def _changing(self, name: str) -> Callable[[object], None]:
        def change(value: object) -> None:
            budget = replace(self._budget, **{name: value})  # type: ignore[arg-type]  # the names of its fields
            if budget != self._budget:
                self._budget = budget
                self.budget_chosen.emit(budget)

        return change


class _Amount(QDoubleSpinBox):
    def __init__(self, nothing: str, name: str) -> None:
        super().__init__()
        self.setRange(0.0, _MOST)
        self.setSpecialValueText(nothing)
        self.setAccessibleName(name)
        self.setKeyboardTracking(False)
        self.setFixedWidth(scaled(96))
        self.lineEdit().setTextMargins(SMALL, 0, 0, 0)  # the stylesheet does not reach it

    def show_amount(self, amount: float, *, decimals: int) -> None:
        """Without a signal, and with more than `decimals` decimals if the amount needs them."""
        while decimals < 6 and round(amount, decimals) != amount:
            decimals += 1
        self.blockSignals(True)
        self.setDecimals(decimals)
        self.setSingleStep(1.0 if decimals > 0 else 1_000.0)
        self.setValue(amount)
        self.blockSignals(False)

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()  # a page that scrolls under the mouse must not change an amount


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
