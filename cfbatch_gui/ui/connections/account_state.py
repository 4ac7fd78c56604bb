"""The state of the Cloudflare account: its id, where its token is kept, and what is wrong."""

from dataclasses import dataclass, replace

from cfbatch_gui.core.connections.address_book import ACCOUNT_VARIABLE, BASE_URL_VARIABLE
from cfbatch_gui.core.connections.credentials import CLOUDFLARE, TOKEN_VARIABLE, TokenSource
from cfbatch_gui.core.connections.system_keyring import KeyringState
from cfbatch_gui.core.errors import Action, KeyringUnavailable, NotConnected
from cfbatch_gui.core.program import Program


@dataclass(frozen=True, slots=True)
class AccountState:
    """What is known about an account; never the token itself.

    `token_source` is None while there is no token. `token_problem` and `problem` are sentences, "" when all is well.
    `keyring_problem` is one while the keyring has not said whether there is a token; with `can_unlock` it is locked.
    `is_checking`: the keyring is being asked for the first time, and it is supposed that all is well.
    `service` is the address that the environment sets instead of Cloudflare's, else "".
    """

    account: str = ""
    token_source: TokenSource | None = None
    token_problem: str = ""
    keyring_problem: str = ""
    can_unlock: bool = False
    is_keyring_broken: bool = False
    is_checking: bool = False
    problem: str = ""
    service: str = ""
    is_ready: bool = False
    account_is_fixed: bool = False  # set by the environment
    token_is_fixed: bool = False  # set by the environment variable `token_variable`
    token_variable: str = TOKEN_VARIABLE

    @property
    def is_fixed(self) -> bool:
        """Whether there is nothing left for the user to enter."""
        return self.account_is_fixed and self.token_is_fixed


async def read_account_state(program: Program) -> AccountState:
    """Read settings, environment and keyring; the keyring, which may be slow, is read in a thread."""
    token_source, token_problem, keyring_problem, can_unlock = None, "", "", False
    try:
        token_source = await program.credentials.token_source(CLOUDFLARE)
    except KeyringUnavailable as error:
        keyring_problem, can_unlock = error.message, error.action is Action.UNLOCK
    except NotConnected as error:
        token_problem = error.message
    summary = next(each for each in await program.connections.summaries() if each.id == CLOUDFLARE)
    return replace(
        known_account_state(program),
        token_source=token_source,
        token_problem=token_problem,
        keyring_problem=keyring_problem,
        can_unlock=can_unlock,
        is_keyring_broken=program.credentials.state is KeyringState.BROKEN,
        is_checking=False,
        is_ready=summary.is_ready,
    )


def known_account_state(program: Program) -> AccountState:
    """What can be said before the keyring has answered."""
    held = program.address_book.held_by_environment()
    service = problem = ""
    if program.address_book.account_id:
        try:
            connection = program.address_book.connection(CLOUDFLARE)
            service = connection.base_url if BASE_URL_VARIABLE in held else ""
        except NotConnected as error:
            problem = error.message
    return AccountState(
        account=program.address_book.account_id,
        is_checking=True,
        problem=problem,
        service=service,
        is_ready=bool(program.address_book.account_id),
        account_is_fixed=ACCOUNT_VARIABLE in held,
        token_is_fixed=TOKEN_VARIABLE in held,
    )
