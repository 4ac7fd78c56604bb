"""In the terminal: the service is checked, after its price was agreed to, and what is learned is used."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.journeys.terminal import Terminal
from tests.support import faults
from tests.support.faults import Fault
from tests.support.faulty_service import ThreadedService

WORDS = "the model took no batches"
NO_QUEUE = faults.refusal(on="submit", status=400, code=8007, message="This model does not support request queuing")


@contextmanager
def serving(tmp_path: Path, terminal: Terminal, *faults: Fault) -> Iterator[ThreadedService]:
    with ThreadedService(tmp_path / "service", *faults).opened() as server:
        terminal.connect(server.url)
        yield server


def test_nothing_is_sent_before_the_price_was_agreed_to(terminal: Terminal, tmp_path: Path) -> None:
    with serving(tmp_path, terminal) as server:
        asked = terminal.run("connections", "probe", "cloudflare")
        assert (asked.status, asked.codes) == (2, {"nothing_was_sent_agree_yes"}) and "$0.001" in asked.err
        assert "--yes" in asked.complaint and not server.accepted()
        wrong = terminal.run("connections", "probe", "cloudflare", "--yes", "--report", tmp_path / "no" / "r.txt")
        assert wrong.status == 2 and not server.accepted()


def test_what_does_not_hold_is_named_and_used(terminal: Terminal, tmp_path: Path) -> None:
    texts = tmp_path / "texts.csv"
    texts.write_text("text\n" + "".join(f"text number {number}\n" for number in range(70)), "utf-8")
    with serving(tmp_path, terminal, NO_QUEUE) as server:
        checked = terminal.run("connections", "probe", "cloudflare", "--yes", "--json")
        assert checked.status == 1
        (broken,) = [each["id"] for each in checked.json["assumptions"] if each["outcome"] == "not held"]
        assert broken == "queue-taken" and not server.accepted()
        embed = ("run", texts, "--embed", "--connection", "cloudflare")
        assert WORDS in terminal.run(*embed).err
        assert WORDS not in terminal.run(*embed, "--at-once").err
        assert WORDS not in terminal.run("run", texts, "--embed", "--connection", "practice").err
        assert terminal.run("connections", "probe", "cloudflare", "--yes").status == 0
        assert WORDS not in terminal.run(*embed).err


def test_an_outcome_that_is_unknown_has_its_status(terminal: Terminal, tmp_path: Path) -> None:
    with serving(tmp_path, terminal, faults.reset_after_body(on="submit", billed=True)) as server:
        checked = terminal.run("connections", "probe", "cloudflare", "--yes")
        assert checked.status == 3 and len(server.accepted()) == 1
