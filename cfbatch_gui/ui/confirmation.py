"""The confirmation before anything is sent above the budget."""

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QWidget

from cfbatch_gui.core.errors import OverBudget
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.core.system.settings import Budget
from cfbatch_gui.ui import dialogs


def _tr(text: str) -> str:
    return QCoreApplication.translate("confirmation", text)


async def may_cost(page: QWidget, why: str) -> bool:
    """`why` is the sentence that says by how much the budget is exceeded; True when confirmed."""
    text = _tr("{why} Prices are before what is free in a day.").format(why=why)
    return await dialogs.ask(page, _tr("Send above your budget?"), text, accept=_tr("Send anyway"), danger=True)


async def send_within_budget(page: QWidget, program: Program, job_id: str, *numbers: int) -> None:
    """Call `Program.send_again`; above the budget, call it again only if the user confirms."""
    try:
        await program.send_again(job_id, *numbers)
    except OverBudget as error:
        if await may_cost(page.window(), said(error.message)):
            await program.send_again(job_id, *numbers, budget=Budget())
