"""Whether the keyring is locked, asked without a prompt, and unlocking it, which prompts.

Only the Secret Service of Linux can be asked. Others (macOS, Windows, KWallet) count as open: they prompt by
themselves when they are read. `backend` is one of keyring's.
"""

from contextlib import closing
from enum import StrEnum

_OF_LINUX = "keyring.backends.SecretService"


class Lock(StrEnum):
    """What stands between the program and the keyring's content."""

    OPEN = "open"
    LOCKED = "locked"
    EMPTY = "empty"  # there is no keyring in it yet; reading as keyring does would make one, with a prompt


def lock_of(backend: object) -> Lock:
    """Ask without a prompt. Raises what the bus raises."""
    if type(backend).__module__ != _OF_LINUX:
        return Lock.OPEN
    import secretstorage

    with closing(secretstorage.dbus_init()) as bus:
        try:
            collection = secretstorage.Collection(bus)
        except secretstorage.ItemNotFoundException:
            return Lock.EMPTY
        return Lock.LOCKED if collection.is_locked() else Lock.OPEN


def unlock(backend: object) -> bool:
    """Have the system ask its user for the password, and wait for the answer; False when the prompt was dismissed."""
    if type(backend).__module__ != _OF_LINUX:
        return True
    import secretstorage

    with closing(secretstorage.dbus_init()) as bus:
        try:
            collection = secretstorage.Collection(bus)
        except secretstorage.ItemNotFoundException:
            return True
        if collection.is_locked():
            collection.unlock()
        return not collection.is_locked()
