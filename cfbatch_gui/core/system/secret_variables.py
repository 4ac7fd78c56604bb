"""The environment variables that hold secrets, and the environment without them, for other processes."""

from collections.abc import Mapping, MutableMapping

TOKEN = "CLOUDFLARE_API_TOKEN"  # noqa: S105
OF_A_CONNECTION = "CFBATCH_SECRET_"  # and the connection's id, in capitals
OF_PRACTICE = "CFBATCH_PRACTICE_TOKEN"


_LONG = 16  # characters; what is shorter is no secret that could be told from an ordinary value


def without_secrets(environ: Mapping[str, str]) -> dict[str, str]:
    """A copy without these variables, and without every other one that repeats the value of one."""
    secrets = {value for name, value in environ.items() if _is_secret(name) and len(value) >= _LONG}
    return {
        name: value
        for name, value in environ.items()
        if not _is_secret(name) and not any(secret in value for secret in secrets)
    }


def take_secrets(environ: MutableMapping[str, str]) -> dict[str, str]:
    """A copy of the environment as it is, from which the secrets are then removed.

    With `os.environ`, every process that is started from then on is started without them, also by Qt and by libraries.
    What /proc/PID/environ shows of this process itself stays as it was.
    """
    found, kept = dict(environ), without_secrets(environ)
    for name in found.keys() - kept.keys():
        del environ[name]
    return found


def _is_secret(name: str) -> bool:
    return name in (TOKEN, OF_PRACTICE) or name.startswith(OF_A_CONNECTION)
