"""What a screen reader gets of every page and dialog, over a real accessibility bus, and where Tab goes.

tests/data/tab_order.txt has the order of Tab on each page; `--write-docs` writes it anew.
"""

import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cfbatch_gui.core.jobs.states import JobState
from cfbatch_gui.words.states import DraftPhase, state_words
from tests.journeys.terminal import ROOT, own_environ, run_well

TAB_ORDER = ROOT / "tests" / "data" / "tab_order.txt"
SIDEBAR = ("New job", "Find a job", "Jobs", "Notices", "Settings")
BEGINS, ENDS = "push button: New job", "push button: Settings"  # the sidebar, in the order of Tab
OWN_ROLES = {
    "overview": "chart: Distribution of the scores",
    "comparison-answer": "chart: How much better or worse each query is",
    "comparison-scores": "chart: Scores of both jobs",
    "map": "chart: Map of the texts",
    "draft-unfolded": "button menu: Column question: Query",
    "draft-vectors": "button menu: Column id: ID",
}
STATES: dict[str, JobState | DraftPhase] = {
    "Invoices, first quarter": JobState.PAUSED,
    "Newsletter archive": JobState.PARTLY_DONE,
    "FAQ rerank, second try": JobState.OUTCOME_UNKNOWN,
    "Abstracts": JobState.WORKING,
    "Product search, May": DraftPhase.EMPTY,
    "Catalogue vectors": JobState.DONE,
}

pytest.importorskip("PySide6")
pytestmark = [
    pytest.mark.skipif(
        not (shutil.which("dbus-run-session") and Path("/usr/libexec/at-spi-bus-launcher").exists()),
        reason="dbus-run-session or at-spi2-core is not installed",
    ),
    pytest.mark.timeout(400),
]


@dataclass(frozen=True)
class Page:
    """What the bus has said about a page; each object is a dict with its role, name, description and states."""

    name: str
    windows: list[dict[str, Any]]
    stops: list[dict[str, Any]]
    again: dict[str, Any]
    back: list[dict[str, Any]]

    def all(self) -> Iterator[dict[str, Any]]:
        for window in self.windows:
            yield from below(window)

    def focused(self) -> list[dict[str, Any]]:
        """What says that it has the focus; the inside of a field says so with the field."""
        inside = {id(child) for node in self.all() if "FOCUSED" in node["states"] for child in node["children"]}
        return [node for node in self.all() if "FOCUSED" in node["states"] and id(node) not in inside]

    def order(self) -> list[str]:
        """Where Tab goes, without the sidebar; on a page with one, from what comes after it."""
        order = [words(stop) for stop in self.stops]
        if ENDS not in order:
            return order
        after = order.index(ENDS) + 1
        order = order[after:] + order[:after]
        return order[: order.index(BEGINS)]


def below(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for child in node["children"]:
        yield from below(child)


def words(node: dict[str, Any]) -> str:
    return f"{node['role']}: {node['name']}"


@pytest.fixture(scope="module")
def heard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """The whole walk, once: a bus of its own, a screen of its own, a window, and a screen reader's questions."""
    root = tmp_path_factory.mktemp("accessibility")
    environ = own_environ(root, QT_API="pyside6", QT_LINUX_ACCESSIBILITY_ALWAYS_ON="1")
    with tempfile.TemporaryDirectory(prefix="cfb", dir="/tmp") as runtime:  # a socket's path is short
        environ["XDG_RUNTIME_DIR"] = runtime
        command = ("dbus-run-session", "--", ROOT / "scripts" / "with-screen.sh", sys.executable)
        program = ("-m", "tests.journeys.accessible_window", root / "data", root / "heard.json")
        run_well(*command, *program, environ=environ)
    yield json.loads((root / "heard.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def pages(heard: dict[str, Any]) -> list[Page]:
    """All pages, in the order of the walk."""
    return [Page(name, **each) for name, each in heard["pages"].items()]


def test_whatever_takes_the_focus_and_whatever_is_chosen_has_a_name(pages: list[Page]) -> None:
    kinds = ("push button", "button menu", "check box", "radio button", "list item", "page tab", "menu item", "chart")
    assert [
        (page.name, words(node))
        for page in pages
        for node in (
            *page.focused(),
            *(each for each in page.all() if "FOCUSABLE" in each["states"] or each["role"] in kinds),
        )
        if not node["name"].strip()
    ] == []


def test_a_choice_from_a_list_says_of_what(pages: list[Page]) -> None:
    choices = [(page.name, node) for page in pages for node in page.all() if node["role"] == "combo box"]
    assert len(choices) > 10
    assert [(page, words(node)) for page, node in choices if not node["description"].strip()] == []


def test_tab_comes_to_everything_in_order_and_round(pages: list[Page], request: pytest.FixtureRequest) -> None:
    found = "\n".join(f"[{page.name}]\n" + "".join(f"{stop}\n" for stop in page.order()) for page in pages)
    if request.config.getoption("--write-docs"):
        TAB_ORDER.write_text(found, "utf-8")
    assert found.splitlines() == TAB_ORDER.read_text("utf-8").splitlines()
    for page in pages:
        assert page.again["path"] == page.stops[0]["path"], f"{page.name}: Tab does not come round"
        back = [each["path"] for each in reversed(page.back)]
        assert back == [each["path"] for each in page.stops], f"{page.name}: Shift+Tab goes another way"


def test_tab_goes_through_the_sidebar_in_one_order(pages: list[Page]) -> None:
    for page in pages:
        names = [stop["name"] for stop in page.stops if words(stop) not in page.order()]
        assert set(names) <= set(SIDEBAR), page.name
        if names:
            at = names.index("New job")
            assert names[at:] + names[:at] == [each for each in SIDEBAR if each in names], page.name


def test_the_purposes_are_radio_buttons_and_the_chosen_one_is_checked(pages: list[Page]) -> None:
    for name, expected in (("draft-unfolded", "Rank answers"), ("draft-vectors", "Vectors for another program")):
        page = next(page for page in pages if page.name == name)
        choices = {each["name"]: each["states"] for each in page.all() if each["role"] == "radio button"}
        checked = [choice for choice, states in choices.items() if "CHECKED" in states]
        assert (len(choices), checked) == (6, [expected]), name


def test_each_job_says_its_state_and_each_group_its_name(pages: list[Page]) -> None:
    lines = {each["name"] for page in pages for each in page.all() if each["role"] == "list item"}
    for name, state in STATES.items():
        assert [line for line in lines if line.startswith(f"{name}, {state_words(state).text}")], (name, lines)
    assert {"Needs you, 3", "Working, 1"} <= lines


def test_what_we_paint_ourselves_has_role_name_and_a_summary(pages: list[Page]) -> None:
    for name, expected in OWN_ROLES.items():
        page = next(page for page in pages if page.name == name)
        (found,) = [each for each in (*page.stops, *page.all()) if words(each) == expected][:1]
        assert len(found["description"].split()) > 5, (name, found["description"])


def test_changes_are_announced(heard: dict[str, Any]) -> None:
    for said in (
        f"Abstracts: {state_words(JobState.WORKING).text}",
        f"Help centre ranking: {state_words(JobState.DONE).text}",
        "The picture is on the clipboard.",
        "Store reviews: with your account. You can close this computer.",
    ):
        assert said in heard["announced"]
    assert any(said.startswith("refund for a cancelled order: ") for said in heard["announced"])  # while judging
