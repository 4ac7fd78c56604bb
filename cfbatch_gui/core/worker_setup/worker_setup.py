"""Setting up: everything is looked at first, then what is missing is made. Run again at any point it ends the same."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Final

from cfbatch_gui.core.connections.address_book import AddressBook, free_name
from cfbatch_gui.core.connections.credentials import Credentials, KeyringState
from cfbatch_gui.core.connections.user_connections import Connections
from cfbatch_gui.core.errors import ReplyError, ServiceRefused, UsageError, UserError
from cfbatch_gui.core.messages import Message, counted_message, enumerated, message
from cfbatch_gui.core.system.settings import SavedConnection
from cfbatch_gui.core.worker_setup.account import (
    Account,
    Names,
    Show,
    Step,
    StorageNotActivated,
    another_name,
    removing_calls,
    setting_up_calls,
)
from cfbatch_gui.core.worker_setup.worker_files import WORKFLOW_CLASS, WorkerFiles, new_secret, upload, worker_files
from cfbatch_gui.core.workers_ai.api_tokens import Token, check_secret
from cfbatch_gui.core.workers_ai.client import Sleep


class NotOurs(UserError):
    """What has this name was not put there by this program; `other_name` may be free."""

    def __init__(self, message: str, *, other_name: str) -> None:
        super().__init__(message)
        self.other_name = other_name


class Stopped(UserError):
    """The work ended before its last call, because of `reason`. Done again it goes on from there."""

    def __init__(self, message: str, *, reason: UserError) -> None:
        super().__init__(message, detail=reason.detail, action=reason.action)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Secret:
    """`is_known`: whether the program had it before."""

    token: Token
    is_known: bool


@dataclass(frozen=True, slots=True)
class SetUp:
    url: str
    secret: Secret
    was_there: bool


class SettingUp:
    """One run; `secret_for` is called with the Worker's address before anything is changed in the account."""

    def __init__(
        self,
        account: Account,
        names: Names,
        account_id: str,
        files: WorkerFiles,
        secret_for: Callable[[str], Awaitable[Secret]],
        *,
        may_replace: bool,
    ) -> None:
        self._account, self._names, self._files = account, names, files
        self._secret_for, self._may_replace = secret_for, may_replace
        self._calls = {call.step: call for call in setting_up_calls(names, account_id)}
        self._has_begun = False  # to change something
        self._there: list[str] = []  # of what is set up, as far as it is certain

    async def run(self) -> SetUp:
        """Set up. Raises Stopped."""
        try:
            return await self._run()
        except UserError as error:
            raise Stopped(self._sentence(error), reason=error) from error

    async def _run(self) -> SetUp:
        account, calls, names = self._account, self._calls, self._names
        subdomain = await account.address(calls[Step.READ_ADDRESS])
        is_ours = await account.is_worker_ours(calls[Step.READ_WORKER])
        owner = await account.worker_of_workflow(calls[Step.READ_WORKFLOW])
        has_bucket = await account.has_bucket(calls[Step.READ_BUCKET])
        if not self._may_replace:
            self._check_owners(is_ours, owner)
        url = f"https://{names.worker}.{subdomain}.workers.dev"
        secret = await self._secret_for(url)
        self._has_begun = True
        if has_bucket:
            account.skip(calls[Step.MAKE_BUCKET], message("It is there already."))
        else:
            await self._make_bucket()
        self._there.append(message("the bucket “{name}”", name=names.bucket))
        content_type, body = upload(self._files, names, secret.token, keep_variables=is_ours is True)
        await account.put(calls[Step.PUT_WORKER], body, content_type=content_type, hidden=(secret.token,))
        self._there.append(message("the Worker “{name}”", name=names.worker))
        workflow: dict[str, object] = {"script_name": names.worker, "class_name": WORKFLOW_CLASS}
        await account.put(calls[Step.PUT_WORKFLOW], workflow)
        self._there.append(message("the Workflow “{name}”", name=names.workflow))
        await account.put(calls[Step.OPEN_ADDRESS], {"enabled": True, "previews_enabled": False})
        return SetUp(url, secret, is_ours is not None)

    def _check_owners(self, is_ours: bool | None, owner: str | None) -> None:
        other = another_name(self._names.worker)
        if is_ours is False:
            sentence = message(
                "There is a Worker “{name}” in the account that this program did not put there. Take another name, such"
                " as “{other}”, or agree to its being replaced.",
                name=self._names.worker,
                other=other,
            )
            raise NotOurs(sentence, other_name=other)
        if owner not in (None, self._names.worker):
            sentence = message(
                "There is a Workflow “{name}” in the account, of the Worker “{owner}”. Take another name for the Worker"
                " here, such as “{other}”, or agree to its being replaced.",
                name=self._names.workflow,
                owner=owner,
                other=other,
            )
            raise NotOurs(sentence, other_name=other)

    async def _make_bucket(self) -> None:
        call = self._calls[Step.MAKE_BUCKET]
        try:
            await self._account.put(call, {"name": self._names.bucket})
        except ServiceRefused:
            # Made after all, by a call whose answer was lost or by another run: then there is one now.
            if not await self._account.has_bucket(self._calls[Step.READ_BUCKET]):
                raise
            self._account.done(call)

    def _sentence(self, error: UserError) -> Message:
        if not self._has_begun:
            return message("{reason} Nothing was changed in the account.", reason=error.message)
        if not self._there:
            return message("{reason} Set it up again, and it goes on from there.", reason=error.message)
        return message(
            "{reason} In the account are now: {things}. Set it up again, and it goes on from there.",
            reason=error.message,
            things=enumerated(self._there),
        )


_PREFIXES: Final = ("orders/", "layouts/", "answers/")  # of all that the Worker stores
_KEY: Final = re.compile(r"(?:orders|layouts|answers)(?:/[A-Za-z0-9][A-Za-z0-9._-]*)+")


@dataclass(frozen=True, slots=True)
class TakenDown:
    """What was taken away: `answers` is the number of objects of the bucket."""

    worker: bool = False
    workflow: bool = False
    bucket: bool = False
    answers: int = 0


class TakingDown:
    """One run. What is not there any more counts as taken away."""

    def __init__(self, account: Account, names: Names, account_id: str, *, keep_bucket: bool) -> None:
        self._account, self._names, self._keep_bucket = account, names, keep_bucket
        self._calls = {call.step: call for call in removing_calls(names, account_id, keep_bucket=keep_bucket)}
        self._gone: list[str] = []

    async def run(self) -> TakenDown:
        """Take away. Raises Stopped."""
        try:
            return await self._run()
        except UserError as error:
            raise Stopped(self._sentence(error), reason=error) from error

    async def _run(self) -> TakenDown:
        account, calls, names = self._account, self._calls, self._names
        if await account.is_worker_ours(calls[Step.READ_WORKER]) is False:
            raise NotOurs(
                message(
                    "The Worker “{name}” was not put there by this program, so it does not take it away. Delete it in"
                    " the dashboard, or with “npx wrangler delete”.",
                    name=names.worker,
                ),
                other_name=another_name(names.worker),
            )
        owner = await account.worker_of_workflow(calls[Step.READ_WORKFLOW])
        has_bucket = not self._keep_bucket and await self._has_bucket()
        worker = await account.delete(calls[Step.DELETE_WORKER])
        self._gone.append(message("the Worker “{name}”", name=names.worker))
        workflow = False
        if owner in (None, names.worker):
            workflow = await account.delete(calls[Step.DELETE_WORKFLOW])
            self._gone.append(message("the Workflow “{name}”", name=names.workflow))
        else:
            sentence = message("It belongs to the Worker “{name}” and stays.", name=owner)
            account.skip(calls[Step.DELETE_WORKFLOW], sentence)
        if self._keep_bucket:
            return TakenDown(worker, workflow)
        if not has_bucket:
            for step in (Step.LIST_ANSWERS, Step.DELETE_ANSWER, Step.DELETE_BUCKET):
                account.skip(calls[step], message("It is not there."))
            return TakenDown(worker, workflow)
        answers = await self._empty()
        return TakenDown(worker, workflow, await account.delete(calls[Step.DELETE_BUCKET]), answers)

    async def _has_bucket(self) -> bool:
        call = self._calls[Step.READ_BUCKET]
        try:
            return await self._account.has_bucket(call)
        except StorageNotActivated:
            self._account.skip(call, message("R2 is not activated in this account, so there is none."))
            return False

    async def _empty(self) -> int:
        listing, deleting = self._calls[Step.LIST_ANSWERS], self._calls[Step.DELETE_ANSWER]
        deleted: set[str] = set()
        for prefix in _PREFIXES:
            while keys := [key for key in await self._account.keys(listing, prefix) if _KEY.fullmatch(key)]:
                if not deleted.isdisjoint(keys):
                    sentence = message("R2 still lists what it said was deleted. Take it away again in a minute.")
                    raise ReplyError(sentence, detail=f"{len(keys)} keys")
                for key in keys:
                    await self._account.delete_key(deleting, key)
                    deleted.add(key)
                    note = counted_message(len(deleted), "{n:,} is deleted.", "{n:,} are deleted.")
                    self._account.done(deleting, note)
        if not deleted:
            self._account.skip(deleting, message("There is nothing in it."))
        return len(deleted)

    def _sentence(self, error: UserError) -> str:
        if not self._gone:
            return message("{reason} Nothing was taken away.", reason=error.message)
        return message(
            "{reason} Taken away are: {things}. Take it away again, and it goes on from there.",
            reason=error.message,
            things=enumerated(self._gone),
        )


_NEW: Final = "worker-setup"  # no connection has this id: asked for only to have the keyring unlocked


class SecretWouldBeLost(UsageError):
    """A new secret has nowhere to be kept. Nothing was changed."""


@dataclass(frozen=True, slots=True)
class Connected:
    """`has_other_secret`: the Worker was there before, and its secret is a new one."""

    connection: SavedConnection
    is_new: bool
    has_other_secret: bool


class WorkerSetup:
    """Tokens come in as arguments, and nothing keeps one."""

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
        """Set the Worker up and save the connection to it. Raises Stopped and NotConnected.

        `may_replace` is the user's word that what others put there is replaced. The secret is `own_secret`,
        else the connection's, else a new one; with `must_keep_secret` only where a keyring keeps it.
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
        """Take the Worker away; the connection stays. Raises Stopped and NotConnected."""
        client = self._address_book.account_client(account_id, token)
        account = Account(client, show, sleep=self._sleep)
        return await TakingDown(account, names, client.connection.account_id, keep_bucket=keep_bucket).run()

    async def _secret_for(self, url: str, *, must_keep: bool) -> Secret:
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
        workers = (each for each in self._address_book.saved() if each.kind == "worker")
        return next((each for each in workers if each.url.rstrip("/").lower() == url), None)
