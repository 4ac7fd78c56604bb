"""The lines of a self-test: whatever a check does, it has one, and the others go on."""

import threading

from cfbatch_gui.core.errors import DataError
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.self_test import Check, Finding, Report, ok, skipped, warning
from tests.canary import TOKEN


class PanicError(BaseException):
    """What a library may raise that is no Exception."""


def lines_of(*checks: Check) -> tuple[list[str], int]:
    lines: list[str] = []
    report = Report(lines.append)
    report.run(checks)
    return lines, report.end()


def raising(error: BaseException) -> Check:
    def look() -> Finding:
        raise error

    return Check("Raises", look)


def test_lines_are_aligned_and_summed_up() -> None:
    lines, status = lines_of(
        Check("A", lambda: ok("Here.")),
        Check("B", lambda: skipped("Not\nhere.")),
        Check("C", lambda: warning("Hardly.")),
    )
    assert [line.split() for line in lines[:3]] == [
        ["ok", "A", "Here."],
        ["skipped", "B", "Not", "here."],
        ["warning", "C", "Hardly."],
    ]
    assert len({line.index(word) for line, word in zip(lines, ("Here", "Not", "Hardly"), strict=False)}) == 1
    assert lines[3:] == ["3 checks, 0 failed."]
    assert status == 0


def test_whatever_a_check_raises_is_its_line_without_secrets() -> None:
    error = DataError(message("It cannot be read."), detail=f"Bearer {TOKEN}")
    lines, status = lines_of(
        raising(ValueError(f"Bearer {TOKEN}")),
        raising(PanicError("of a library")),
        raising(error),
        Check("Last", lambda: ok("Here.")),
    )
    assert [line.split()[0] for line in lines[:4]] == ["failed", "failed", "failed", "ok"]
    assert "ValueError: [redacted]" in lines[0] and "PanicError: of a library" in lines[1]
    assert "It cannot be read. ([redacted])" in lines[2]
    assert TOKEN not in "".join(lines)
    assert status == 1


def test_a_check_that_hangs_is_left_behind() -> None:
    end = threading.Event()

    def hang() -> Finding:
        end.wait()
        return ok("Late.")

    try:
        lines, status = lines_of(Check("Hangs", hang, seconds=0.05), Check("Next", lambda: ok("Here.")))
    finally:
        end.set()
    assert "did not end within 0.05 seconds" in lines[0]
    assert (lines[1].split(), status) == (["ok", "Next", "Here."], 1)
