"""The window from outside: a process of its own, the keyboard of a screen, and files."""

import signal
from pathlib import Path

import openpyxl
import pytest

pytest.importorskip("PySide6")

from cfbatch_gui.core.jobs.states import BatchState, JobState
from tests.canary import TOKEN
from tests.journeys.desktop import Desktop
from tests.journeys.terminal import Terminal, read_csv, read_workbook
from tests.support import faults
from tests.support.faulty_service import ThreadedService


def test_from_the_example_to_a_file(desktop: Desktop, tmp_path: Path) -> None:
    desktop.start_draft()
    desktop.press_until("ctrl+Return", lambda: desktop.is_in(JobState.DONE))
    desktop.press_until("ctrl+e", lambda: len(desktop.windows()) == 2)
    written = desktop.home / "Help centre ranking.xlsx"
    desktop.press_until("Return", written.exists, pause=10.0)
    assert desktop.close() == 0
    rows = read_workbook(written)
    assert len(rows) == 82
    assert (rows[0]["question"], rows[0]["sku"], rows[0]["Rank"]) == ("how do I reset my password", "A-0113", 1)
    again = tmp_path / "again.xlsx"
    assert Terminal(desktop.data).run("export", "Help centre ranking", "--out", again).status == 0
    assert rows == read_workbook(again)
    assert len(desktop.accepted()) == 1


EXAMPLES = Path(__file__).parents[2] / "resources" / "examples"


def test_from_two_files_to_the_own_sheet(desktop: Desktop) -> None:
    """Opened with both files it takes three keys: send, export, save."""
    name = "Supplier list"
    desktop.start_and_wait(EXAMPLES / "supplier-list.csv", EXAMPLES / "own-products.csv")
    desktop.press_until("ctrl+Return", lambda: desktop.is_in(JobState.DONE, name))
    desktop.press_until("ctrl+e", lambda: len(desktop.windows()) == 2)
    written = desktop.home / f"{name}.xlsx"
    desktop.press_until("Return", written.exists, pause=10.0)
    assert desktop.close() == 0
    rows = read_workbook(written)
    assert [row["article no"] for row in rows] == [
        row["article no"] for row in read_csv(EXAMPLES / "supplier-list.csv")
    ]
    kettle = next(row for row in rows if row["description"] == "Tea kettle, enamel")
    assert (kettle["sku"], kettle["size"]) == ("K-1140", "1.7 l")
    assert any(row["sku"] is None for row in rows)
    book = openpyxl.load_workbook(written)
    own = {row["sku"] for row in read_csv(EXAMPLES / "own-products.csv")}
    assert {row["sku"] for row in rows} - {None} == own - {cell.value for cell in book.worksheets[1]["A"][1:]}
    assert len(desktop.accepted()) == 1


SLOWLY = 0.005  # seconds for each byte of the answer; all of it comes within the time that closing waits


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_submit_whose_answer_is_on_its_way_is_recorded(
    desktop: Desktop, tmp_path: Path, number: signal.Signals, status: int
) -> None:
    slow = faults.drip(on="submit", billed=True, seconds=SLOWLY)
    with ThreadedService(tmp_path / "service", slow).opened() as service:
        desktop.connect(service.url, token=TOKEN)
        desktop.start_draft(str(EXAMPLES / "help-centre-ranking.csv"))
        desktop.press_until("ctrl+Return", service.accepted)
        job = desktop.job()
        assert job is not None and job.batches[0].state is BatchState.SENDING
        process = desktop.started[-1]
        process.send_signal(number)
        _, said = process.communicate(timeout=240)
        assert process.returncode == status and "Traceback" not in said, said
        job = desktop.job()
        assert job is not None and [batch.request_id for batch in job.batches] == service.accepted()
        desktop.start_and_wait()
        desktop.until(lambda: desktop.is_in(JobState.DONE))
        assert desktop.close() == 0
        assert len(service.accepted()) == 1
