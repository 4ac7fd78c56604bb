"""What is known about the Cloudflare account at this moment, and where from."""

from dataclasses import dataclass

from cfbatch_gui.core.connections.credentials import CLOUDFLARE, TOKEN_VARIABLE, TokenSource
from cfbatch_gui.core.errors import NotConnected
from cfbatch_gui.core.program import ACCOUNT_VARIABLE, BASE_URL_VARIABLE, Program


@dataclass(frozen=True, slots=True)
class AccountState:
    """Never holds the token itself.

    `place` is None while there is no token. `token_problem` and `problem` are sentences, "" when all is well;
    `service` is the address that the environment puts in the place of Cloudflare's, else "".
    """

    account: str = ""
    place: TokenSource | None = None
    token_problem: str = ""
    problem: str = ""
    service: str = ""
    is_ready: bool = False
    account_is_fixed: bool = False  # by the environment, as is the next one, whose variable is the last
    token_is_fixed: bool = False
    token_variable: str = TOKEN_VARIABLE

    @property
    def is_fixed(self) -> bool:
        """Whether there is nothing left for the user to enter."""
        return self.account_is_fixed and self.token_is_fixed


async def read_account_state(program: Program) -> AccountState:
    """Look into settings, environment and keyring; the keyring may take its time, and is asked in a thread."""
    held = program.address_book.held_by_environment()
    place, token_problem = None, ""
    try:
        place = await program.credentials.token_source(CLOUDFLARE)
    except NotConnected as error:
        token_problem = error.message
    facts = next(each for each in await program.connections.summaries() if each.id == CLOUDFLARE)
    service = problem = ""
    if program.address_book.account_id:
        try:
            connection = program.address_book.connection(CLOUDFLARE)
            service = connection.base_url if BASE_URL_VARIABLE in held else ""
        except NotConnected as error:
            problem = error.message
    return AccountState(
        account=program.address_book.account_id,
        place=place,
        token_problem=token_problem,
        problem=problem,
        service=service,
        is_ready=facts.is_ready,
        account_is_fixed=ACCOUNT_VARIABLE in held,
        token_is_fixed=TOKEN_VARIABLE in held,
    )
