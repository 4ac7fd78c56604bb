"""What is known of the keyring, and the sentences for whoever waits for it."""

from enum import StrEnum

from cfbatch_gui.core.errors import Action, KeyringUnavailable
from cfbatch_gui.core.messages import message


class KeyringState(StrEnum):
    """What is known of the keyring; UNKNOWN before anything needed it."""

    UNKNOWN = "unknown"
    CHECKING = "checking"
    OPEN = "open"
    LOCKED = "locked"  # or its prompt is on the screen
    REFUSED = "refused"  # its prompt was dismissed; it is not shown again before `Credentials.unlock`
    SILENT = "silent"  # it does not answer, but may yet
    BROKEN = "broken"
    ABSENT = "absent"


SHUT = (KeyringState.LOCKED, KeyringState.REFUSED)
PASSING = (*SHUT, KeyringState.SILENT)
_SENTENCES = {
    KeyringState.LOCKED: message("Your keyring is locked. Unlock it; what waits for it goes on by itself."),
    KeyringState.REFUSED: message("Your keyring was not unlocked. Unlock it; what waits for it goes on by itself."),
    KeyringState.SILENT: message(
        "Your keyring does not answer. What waits for it goes on by itself as soon as it does."
    ),
    KeyringState.BROKEN: message(
        "Your keyring cannot be used. The token in it is not lost; enter it anew to go on without."
    ),
}


def sentence_of(state: KeyringState) -> str:
    """What whoever waits for it is told, "" when there is nothing to wait for."""
    return _SENTENCES.get(state, "")


def unavailable(state: KeyringState, detail: str) -> KeyringUnavailable:
    """What is raised in this state, with what the user can do."""
    action = Action.UNLOCK if state in SHUT else Action.OPEN_CONNECTION
    return KeyringUnavailable(_SENTENCES.get(state, _SENTENCES[KeyringState.LOCKED]), detail=detail, action=action)
