"""The user's Worker in their account, for the faces: set up and taken away with a token that is used once."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from cfbatch_gui.core.connections.address_book import AddressBook, free_name
from cfbatch_gui.core.connections.credentials import Credentials
from cfbatch_gui.core.connections.keyring_state import KeyringState
from cfbatch_gui.core.connections.user_connections import Connections
from cfbatch_gui.core.errors import UsageError, UserError
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.system.settings import SavedConnection
from cfbatch_gui.core.worker_setup.account import Account, Show
from cfbatch_gui.core.worker_setup.account_calls import Names
from cfbatch_gui.core.worker_setup.removing import TakenDown, TakingDown
from cfbatch_gui.core.worker_setup.setting_up import Secret, SettingUp, SetUp, Stopped
from cfbatch_gui.core.worker_setup.worker_files import WorkerFiles, worker_files
from cfbatch_gui.core.workers_ai.api_tokens import Token, check_secret
from cfbatch_gui.core.workers_ai.own_worker import new_secret
from cfbatch_gui.core.workers_ai.repeating import Sleep

_NEW: Final = "worker-setup"  # no connection has this id: asked for only to have the keyring unlocked


class SecretWouldBeLost(UsageError):
    """A new secret has nowhere to be kept. Nothing was changed."""


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
        own_secret: Token | None = None,
        must_keep_secret: bool = False,
        show: Show = lambda progress: None,
    ) -> Connected:
        """Set the Worker up, and save the connection to it: the one there is, or a new one that is called `title`.

        `may_replace` is the user's word that a Worker or a Workflow of these names, which this program did not put
        there, is replaced. The Worker's secret is `own_secret`, else that of the connection there is, else a new one;
        with `must_keep_secret` no new one is made where there is no keyring to keep it in. Raises Stopped, and
        NotConnected for an account id that cannot be one.
        """

        async def secret_for(url: str) -> Secret:
            if own_secret is not None:
                return Secret(own_secret, is_known=False)
            return await self._secret_for(url, must_keep=must_keep_secret)

        client = self._address_book.account_client(account_id, token)
        files = await asyncio.to_thread(self._files)
        set_up = await SettingUp(
            Account(client, show, sleep=self._sleep),
            names,
            client.connection.account_id,
            files,
            secret_for,
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

    async def _secret_for(self, url: str, *, must_keep: bool) -> Secret:
        """Raises KeyringUnavailable for a keyring that could not take a new secret either, and SecretWouldBeLost."""
        record = self._record(url)
        known = await self._credentials.token(record.id if record is not None else _NEW, check=check_secret)
        if record is not None and known is not None:
            return Secret(known, is_known=True)
        if must_keep and self._credentials.state is KeyringState.ABSENT:
            raise SecretWouldBeLost(
                message(
                    "There is no keyring on this computer, so a secret that is made now would be lost at once. Give the"
                    " Worker one of your own."
                )
            )
        return Secret(Token(new_secret()), is_known=False)

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
