"""The user's Worker in their account, for the faces: set up and taken away with a token that is used once."""

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import urlsplit

from cfbatch_gui.core.connections.address_book import AddressBook, free_name
from cfbatch_gui.core.connections.credentials import Credentials
from cfbatch_gui.core.connections.user_connections import Connections
from cfbatch_gui.core.errors import UsageError, UserError
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.system.settings import SavedConnection
from cfbatch_gui.core.worker_setup.account import Account, Show
from cfbatch_gui.core.worker_setup.account_calls import Names, names_of
from cfbatch_gui.core.worker_setup.removing import TakenDown, TakingDown
from cfbatch_gui.core.worker_setup.setting_up import Secret, SettingUp, SetUp, Stopped
from cfbatch_gui.core.worker_setup.worker_files import WorkerFiles, worker_files
from cfbatch_gui.core.workers_ai.api_tokens import Token, check_secret
from cfbatch_gui.core.workers_ai.own_worker import new_secret
from cfbatch_gui.core.workers_ai.repeating import Sleep

_ADDRESS: Final = re.compile(r"(?P<worker>[a-z0-9-]+)\.[a-z0-9-]+\.workers\.dev")


@dataclass(frozen=True, slots=True)
class Connected:
    """A Worker that was set up, with the connection that leads to it.

    `is_new` is whether the connection was added. `has_other_secret` is whether the Worker was there before and got a
    new secret, because this computer did not know its own: whoever else uses the Worker needs it.
    """

    connection: SavedConnection
    is_new: bool
    has_other_secret: bool


class WorkerSetup:
    """Tokens come in as arguments, and nothing keeps one: it is gone when the call it was given to has returned."""

    def __init__(
        self,
        address_book: AddressBook,
        credentials: Credentials,
        connections: Connections,
        *,
        files: Callable[[], WorkerFiles] = worker_files,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._address_book, self._credentials, self._connections = address_book, credentials, connections
        self._files, self._sleep = files, sleep

    async def set_up(
        self,
        account_id: str,
        token: Token,
        names: Names,
        *,
        title: str,
        paid_plan: bool,
        may_replace: bool = False,
        show: Show = lambda progress: None,
    ) -> Connected:
        """Set the Worker up, and save the connection to it: the one there is, or a new one that is called `title`.

        `may_replace` is the user's word that a Worker or a Workflow of these names, which this program did not put
        there, is replaced. Raises Stopped, and NotConnected for an account id that cannot be one.
        """
        client = self._address_book.account_client(account_id, token)
        files = await asyncio.to_thread(self._files)
        set_up = await SettingUp(
            Account(client, show, sleep=self._sleep),
            names,
            client.connection.account_id,
            files,
            self._secret_for,
            may_replace=may_replace,
        ).run()
        try:
            return await self._connect(set_up, title, paid_plan=paid_plan)
        except UserError as error:
            sentence = message(
                "The Worker is set up, but the connection to it could not be saved. {reason} Set it up again once that"
                " is put right.",
                reason=error.message,
            )
            raise Stopped(sentence, reason=error) from error

    async def take_down(
        self,
        account_id: str,
        token: Token,
        names: Names,
        *,
        keep_bucket: bool,
        show: Show = lambda progress: None,
    ) -> TakenDown:
        """Take the Worker away; the connection in the program stays. Raises Stopped and NotConnected."""
        client = self._address_book.account_client(account_id, token)
        account = Account(client, show, sleep=self._sleep)
        return await TakingDown(account, names, client.connection.account_id, keep_bucket=keep_bucket).run()

    def names_at(self, connection_id: str) -> Names:
        """The names that go with a connection's Worker. Raises UsageError when its address does not tell them."""
        record = next((each for each in self._address_book.saved() if each.id == connection_id), None)
        found = _ADDRESS.fullmatch(urlsplit(record.url).hostname or "") if record is not None else None
        if found is None:
            raise UsageError(message("The address of this connection does not tell the Worker's name. Enter it."))
        return names_of(found["worker"])

    async def _secret_for(self, url: str) -> Secret:
        record = self._record(url)
        token = await self._credentials.token(record.id, check=check_secret) if record is not None else None
        return Secret(token, is_known=True) if token is not None else Secret(Token(new_secret()), is_known=False)

    async def _connect(self, set_up: SetUp, title: str, *, paid_plan: bool) -> Connected:
        record = self._record(set_up.url)
        is_new = record is None
        if record is None:
            name = free_name(title, (each.name for each in self._address_book.saved()))
            record = SavedConnection("", name, "worker", url=set_up.url)
        secret = "" if set_up.secret.is_known else set_up.secret.token.reveal()
        record = await self._connections.save(replace(record, paid_plan=paid_plan), secret=secret)
        return Connected(record, is_new, has_other_secret=set_up.was_there and not set_up.secret.is_known)

    def _record(self, url: str) -> SavedConnection | None:
        """The saved connection to a Worker's address."""
        workers = (each for each in self._address_book.saved() if each.kind == "worker")
        return next((each for each in workers if each.url.rstrip("/").lower() == url), None)
