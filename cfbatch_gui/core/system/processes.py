"""What this process keeps from others: its memory, and the environment variables that hold secrets."""

import sys
from collections.abc import Mapping, MutableMapping
from contextlib import suppress

TOKEN = "CLOUDFLARE_API_TOKEN"  # noqa: S105
OF_A_CONNECTION = "CFBATCH_SECRET_"  # and the connection's id, in capitals
OF_PRACTICE = "CFBATCH_PRACTICE_TOKEN"
_LONG = 16  # characters; what is shorter is no secret that could be told from an ordinary value
_PR_SET_DUMPABLE = 4  # linux/prctl.h


def without_secrets(environ: Mapping[str, str]) -> dict[str, str]:
    """A copy without these variables, and without every other one that repeats the value of one."""
    secrets = {value for name, value in environ.items() if _is_secret(name) and len(value) >= _LONG}
    return {
        name: value
        for name, value in environ.items()
        if not _is_secret(name) and not any(secret in value for secret in secrets)
    }


def take_secrets(environ: MutableMapping[str, str]) -> dict[str, str]:
    """A copy of the environment, from which the secrets are then removed, also for child processes."""
    found, kept = dict(environ), without_secrets(environ)
    for name in found.keys() - kept.keys():
        del environ[name]
    return found


def _is_secret(name: str) -> bool:
    return name in (TOKEN, OF_PRACTICE) or name.startswith(OF_A_CONNECTION)


def forbid_core_dumps() -> None:
    """Forbid core dumps of this process, before a token is read.

    On Linux also by prctl(2), as a piped dump heeds no limit.
    """
    if sys.platform == "win32":
        return
    import resource

    with suppress(OSError, ValueError):
        _, most = resource.getrlimit(resource.RLIMIT_CORE)
        resource.setrlimit(resource.RLIMIT_CORE, (0, most))
    if sys.platform == "linux":
        import ctypes

        with suppress(OSError, AttributeError):  # another C library
            ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
