"""docs/protocol.md shows the table of assumptions as it is in the code.

`make test ARGS="tests/core/workers_ai/test_protocol_page.py --write-docs"` writes the page anew.
"""

from itertools import groupby
from pathlib import Path

import pytest

from cfbatch_gui.core.workers_ai.probe import READ_ON, Assumption, all_assumptions

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "protocol.md"
INTRODUCTION = """# What is assumed of the live service

None of the makers has an account at Cloudflare: everything that the program takes for granted about the service was
read, not seen. This is the whole list. Each entry has its source, the path of a page at
https://developers.cloudflare.com/ as it was in {read}, and what the program does if the service is otherwise.

Whoever has an account can look:

    cfbatch connections probe NAME

or “Check the service…” on the connection page. A check asks first and says its price, less than $0.001. It makes four
calls that are free (two searches in the list of models, a poll for an id and a poll of a model that do not exist),
sends one batch of each form of request, two requests each (a model that does not rank has one form), polls until they
are finished, and sends one request without the queue. Nothing is sent twice. The ids of its batches are shown, and
written to `submissions.jsonl` with no job, before anything else happens. Then it says of each entry: *held*, *not
held* or *not seen*. Its report has no token, no account id, no texts of yours and only the beginning of request ids;
it is saved where you say and sent nowhere.

The last column says whether a check can tell. An entry with “no” is always *not seen*, for the reason that stands
there; one with “only that it holds” is never *not held*.

What a check has learned is used from then on for this connection, this account and this model: before a job is sent,
the program says that the model takes no batches; and where references came back, answers without them are not taken.

`tests/core/workers_ai/test_probe.py` breaks each entry in turn in the practice service: the check names that one, and
no other. [protocol-coverage.md](protocol-coverage.md) is about something else: which form of request and answer is
tested through which kind of connection.

This page is written from `resources/assumptions.txt`; `make test` fails when it is stale. To write it anew:

    make test ARGS="tests/core/workers_ai/test_protocol_page.py --write-docs"
"""


def page() -> str:
    lines = [INTRODUCTION.format(read=READ_ON)]
    for area, entries in groupby(all_assumptions(), key=lambda each: each.area):
        lines += [f"## {area}", "", "| id | assumed | source | otherwise | a check sees it |", "|---|---|---|---|---|"]
        lines += [_row(each) for each in entries]
        lines.append("")
    return "\n".join(lines)


def _row(each: Assumption) -> str:
    sight = f"{'only that it holds' if each.is_visible else 'no'}: {each.reason}" if each.reason else "yes"
    return f"| `{each.id}` | {each.sentence} | {each.source} | {each.otherwise} | {sight} |"


def test_the_page_shows_the_table_of_the_code(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--write-docs"):
        PAGE.write_text(page(), "utf-8")
    assert PAGE.read_text("utf-8") == page()


def test_no_cell_breaks_the_table() -> None:
    for each in all_assumptions():
        for cell in (each.id, each.sentence, each.source, each.otherwise, each.reason):
            assert "|" not in cell and "\n" not in cell
        assert each.sentence.endswith(".") and each.otherwise.endswith(".")
