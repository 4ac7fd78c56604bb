"""Running checks: each within its time, and none of them ends the others."""

import threading

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.self_test.findings import Check, Finding, failed
from cfbatch_gui.core.system.logs import redacted


def run_in_time(check: Check) -> Finding:
    """Run the check in a thread of its own, which is left behind when its time is over."""
    found: list[Finding] = []
    thread = threading.Thread(target=lambda: found.append(run_guarded(check)), name=check.title, daemon=True)
    thread.start()
    thread.join(check.seconds)
    return found[0] if found else too_late(check.seconds)


def run_guarded(check: Check) -> Finding:
    """Run the check here, however long it takes; what it raises becomes a failure."""
    try:
        return check.look()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 # also the panics of libraries; the other checks go on
        return raised(error)


def raised(error: BaseException) -> Finding:
    """The finding for what was raised, without secrets."""
    if not isinstance(error, UserError):
        return failed(message("{kind}: {text}", kind=type(error).__name__, text=redacted(str(error))))
    if not error.detail:
        return failed(error.message)
    return failed(message("{sentence} ({detail})", sentence=error.message, detail=redacted(error.detail)))


def too_late(seconds: float) -> Finding:
    """The finding for a check that did not end."""
    return failed(message("It did not end within {n:g} seconds.", n=seconds))
