"""The Worker is put into the user's account and taken away: all is looked at first, then what is missing is made.

Run again at any point it ends the same.
"""

import asyncio
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import msgspec

from cfbatch_gui import __version__
from cfbatch_gui.core.connections.address_book import AddressBook, free_name
from cfbatch_gui.core.connections.credentials import Credentials, KeyringState
from cfbatch_gui.core.connections.user_connections import Connections
from cfbatch_gui.core.errors import ExportError, ReplyError, ServiceRefused, UsageError, UserError
from cfbatch_gui.core.messages import Message, message
from cfbatch_gui.core.resources import resource
from cfbatch_gui.core.system.settings import SavedConnection
from cfbatch_gui.core.worker_setup.account import (
    GONE,
    TAG,
    THERE,
    Account,
    Names,
    Show,
    State,
    Step,
    UploadBody,
    another_name,
    removing_calls,
    setting_up_calls,
)
from cfbatch_gui.core.workers_ai.api_tokens import Token, check_secret
from cfbatch_gui.core.workers_ai.client import Sleep
from cfbatch_gui.core.workers_ai.requests import multipart

WORKFLOW_CLASS: Final = "Collect"

_MAIN_MODULE: Final = "collect.js"
_FOLDER: Final = "cf-batch-worker"
_CONFIGURATION: Final = "wrangler.jsonc"  # the dates of both configurations are one
_DATE: Final = re.compile(r'"compatibility_date":\s*"(\d{4}-\d\d-\d\d)"')
_encode = msgspec.json.Encoder().encode


WorkerFiles = tuple[Mapping[str, bytes], str]  # modules in the order of their names, and their compatibility date


def worker_files() -> WorkerFiles:
    """The files that ship with the program; blocking."""
    folder = resource("worker")
    modules = {path.name: path.read_bytes() for path in sorted((folder / "src").glob("*.js"))}
    found = _DATE.search((folder / _CONFIGURATION).read_text("utf-8"))
    if found is None or _MAIN_MODULE not in modules:
        raise FileNotFoundError(folder.name)  # a broken installation, as in `resource`
    return modules, found[1]


def upload(files: WorkerFiles, names: Names, secret: Token, *, keep_variables: bool) -> tuple[str, UploadBody]:
    """The content type and the body. With `keep_variables` the Worker's plain variables stay."""
    modules, date = files
    metadata: dict[str, object] = {
        "main_module": _MAIN_MODULE,
        "compatibility_date": date,
        "bindings": [
            {"type": "ai", "name": "AI"},
            {"type": "r2_bucket", "name": "BUCKET", "bucket_name": names.bucket},
            {"type": "workflow", "name": "COLLECT", "workflow_name": names.workflow, "class_name": WORKFLOW_CLASS},
            {"type": "secret_text", "name": "SHARED_SECRET", "text": secret.reveal()},
        ],
        "observability": {"enabled": False},  # no log, and no record of requests
        "tags": [TAG],
        "annotations": {"workers/message": f"Set up by CF Batch {__version__}"},
    }
    if keep_variables:
        metadata["keep_bindings"] = ["plain_text", "json"]
    parts = ((name, name, "application/javascript+module", [text]) for name, text in modules.items())
    content_type, body = multipart([("metadata", "", "application/json", [_encode(metadata)]), *parts])
    return content_type, UploadBody(body)


# Prices of https://developers.cloudflare.com/r2/pricing/ and https://developers.cloudflare.com/workflows/reference/pricing/
COSTS = message("prices_november_2026_r2_10_gb")


def new_secret() -> str:
    """A random secret of 256 bits: 43 letters, digits, "-" and "_"."""
    return secrets.token_urlsafe(32)


def save_worker(folder: Path) -> Path:
    """Write the Worker's files into a new folder there; its path. Raises ExportError."""
    target = folder / _FOLDER
    try:
        return Path(shutil.copytree(resource("worker"), target, copy_function=shutil.copyfile))
    except FileExistsError as error:
        raise ExportError(message("folder_worker_is_there_already", worker=_FOLDER, name=folder.name)) from error
    except OSError as error:
        sentence = message("worker_could_not_be_saved_name", name=folder.name)
        raise ExportError(sentence, detail=f"{error.filename or folder}: {error.strerror}") from error


_NEW: Final = "worker-setup"  # no connection has this id: asked for only to have the keyring unlocked
_PREFIXES: Final = ("orders/", "layouts/", "answers/")  # of all that the Worker stores
_KEY: Final = re.compile(r"(?:orders|layouts|answers)(?:/[A-Za-z0-9][A-Za-z0-9._-]*)+")


class NotOurs(UserError):
    """What has this name was not put there by this program; `other_name` may be free."""

    def __init__(self, message: str, *, other_name: str) -> None:
        super().__init__(message)
        self.other_name = other_name


class SecretWouldBeLost(UsageError):
    """A new secret has nowhere to be kept. Nothing was changed."""


class Stopped(UserError):
    """The work ended before its last call, because of `reason`. Done again it goes on from there."""

    def __init__(self, message: str, *, reason: UserError) -> None:
        super().__init__(message, detail=reason.detail, action=reason.action)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Connected:
    """`has_other_secret`: the Worker was there before, and its secret is a new one."""

    connection: SavedConnection
    is_new: bool
    has_other_secret: bool

    def sentences(self) -> Iterator[Message]:
        """What was done, and what there is to know of it."""
        name = self.connection.name
        yield message("done_connection_name_was_added" if self.is_new else "done_connection_name_is_kept", name=name)
        if self.has_other_secret:
            yield message("worker_new_secret_programs_elsewhere_use")
        yield message("token_is_not_needed_any_more")


@dataclass(frozen=True, slots=True)
class TakenDown:
    """What was taken away: `answers` is the number of objects of the bucket, `name` that of the Worker."""

    name: str
    worker: bool = False
    workflow: bool = False
    bucket: bool = False
    answers: int = 0

    def sentences(self) -> Iterator[Message]:
        yield message("done_name_is_not_account_any", name=self.name)
        if self.bucket:
            yield message("n_stored_objects_were_deleted", n=self.answers)
        yield message("token_is_not_needed_any_more")


class WorkerSetup:
    """Tokens come in as arguments, and nothing keeps one."""

    def __init__(
        self,
        address_book: AddressBook,
        credentials: Credentials,
        connections: Connections,
        *,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._address_book, self._credentials, self._connections = address_book, credentials, connections
        self._sleep = sleep

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
        client = self._address_book.account_client(account_id, token)
        calls, files = setting_up_calls(names, client.connection.account_id), await asyncio.to_thread(worker_files)
        account = Account(client, calls, show, sleep=self._sleep)
        with _stopping(_NOTHING_CHANGED):
            subdomain = await account.address()
            is_ours = await account.is_worker_ours()
            owner = await account.worker_of_workflow()
            has_bucket = await account.has_bucket()
            if not may_replace:
                _check_owners(names, is_ours, owner)
            url = f"https://{names.worker}.{subdomain}.workers.dev"
            record = self._record(url)
            known = None if own_secret else await self._known_secret(record, must_keep=must_keep_secret)
        secret = own_secret or known or Token(new_secret())
        with _stopping(_BEGUN):
            await _make_bucket(account, names.bucket, has_bucket=has_bucket)
            content_type, body = upload(files, names, secret, keep_variables=is_ours is True)
            await account.put(Step.PUT_WORKER, body, content_type=content_type, hidden=(secret,))
            await account.put(Step.PUT_WORKFLOW, {"script_name": names.worker, "class_name": WORKFLOW_CLASS})
            await account.put(Step.OPEN_ADDRESS, {"enabled": True, "previews_enabled": False})
        with _stopping(_NOT_SAVED):
            if record is None:
                name = free_name(title, (each.name for each in self._address_book.saved()))
                kept = SavedConnection("", name, "worker", url=url, paid_plan=paid_plan)
            else:
                kept = replace(record, paid_plan=paid_plan)
            kept = await self._connections.save(kept, secret="" if known else secret.reveal())
        return Connected(kept, record is None, has_other_secret=is_ours is not None and known is None)

    async def take_down(
        self, account_id: str, token: Token, names: Names, *, keep_bucket: bool, show: Show = lambda progress: None
    ) -> TakenDown:
        """Take the Worker away; the connection stays. What is not there any more counts as taken away.

        Raises Stopped and NotConnected.
        """
        client = self._address_book.account_client(account_id, token)
        planned = removing_calls(names, client.connection.account_id, keep_bucket=keep_bucket)
        account = Account(client, planned, show, sleep=self._sleep)
        with _stopping(_NOTHING_TAKEN):
            if await account.is_worker_ours() is False:
                raise NotOurs(
                    message("worker_name_was_not_put_there", name=names.worker), other_name=another_name(names.worker)
                )
            owner = await account.worker_of_workflow()
            has_bucket = not keep_bucket and await account.has_bucket()
        with _stopping(_TAKEN):
            worker, workflow = await account.delete(Step.DELETE_WORKER), False
            if owner in (None, names.worker):
                workflow = await account.delete(Step.DELETE_WORKFLOW)
            else:
                sentence = message("belongs_worker_name_stays", name=owner)
                account.tell(Step.DELETE_WORKFLOW, State.NOT_NEEDED, sentence)
            if has_bucket:
                answers = await _empty(account)
                return TakenDown(names.worker, worker, workflow, await account.delete(Step.DELETE_BUCKET), answers)
            for call in () if keep_bucket else planned[-3:]:  # about the bucket
                account.tell(call.step, State.NOT_NEEDED, GONE)
            return TakenDown(names.worker, worker, workflow)

    async def _known_secret(self, record: SavedConnection | None, *, must_keep: bool) -> Token | None:
        """The connection's. Raises SecretWouldBeLost where there is none, and none that is made could be kept."""
        known = await self._credentials.token(record.id if record is not None else _NEW, check=check_secret)
        if record is not None and known is not None:
            return known
        if must_keep and self._credentials.state is KeyringState.ABSENT:
            raise SecretWouldBeLost(message("there_is_no_keyring_on_computer"))
        return None

    def _record(self, url: str) -> SavedConnection | None:
        workers = (each for each in self._address_book.saved() if each.kind == "worker")
        return next((each for each in workers if each.url.rstrip("/").lower() == url), None)


_NOTHING_CHANGED: Final = message("reason_nothing_was_changed_account")
_BEGUN: Final = message("reason_was_begun_set_up_again")
_NOT_SAVED: Final = message("worker_is_set_up_but_connection")
_NOTHING_TAKEN: Final = message("reason_nothing_was_taken_away")
_TAKEN: Final = message("reason_was_begun_take_away_again")


@contextmanager
def _stopping(sentence: Message) -> Iterator[None]:
    """Raises Stopped for any UserError, with what that means for the account."""
    try:
        yield
    except UserError as error:
        raise Stopped(sentence.filled(reason=error.message), reason=error) from error


def _check_owners(names: Names, is_ours: bool | None, owner: str | None) -> None:
    other = another_name(names.worker)
    if is_ours is False:
        sentence = message("there_is_worker_name_account_program", name=names.worker, other=other)
        raise NotOurs(sentence, other_name=other)
    if owner not in (None, names.worker):
        sentence = message("there_is_workflow_name_account_worker", name=names.workflow, owner=owner, other=other)
        raise NotOurs(sentence, other_name=other)


async def _make_bucket(account: Account, name: str, *, has_bucket: bool) -> None:
    if has_bucket:
        account.tell(Step.MAKE_BUCKET, State.NOT_NEEDED, THERE)
        return
    try:
        await account.put(Step.MAKE_BUCKET, {"name": name})
    except ServiceRefused:
        # Made after all, by a call whose answer was lost or by another run: then there is one now.
        if not await account.has_bucket():
            raise
        account.tell(Step.MAKE_BUCKET, State.DONE)


async def _empty(account: Account) -> int:
    """Delete what the Worker has stored, and nothing else; how many objects."""
    deleted: set[str] = set()
    for prefix in _PREFIXES:
        while keys := [key for key in await account.keys(prefix) if _KEY.fullmatch(key)]:
            if not deleted.isdisjoint(keys):
                sentence = message("r2_still_lists_what_said_was")
                raise ReplyError(sentence, detail=f"{len(keys)} keys")
            for key in keys:
                await account.delete_key(key)
                deleted.add(key)
                note = message("n_are_deleted", n=len(deleted))
                account.tell(Step.DELETE_ANSWER, State.DONE, note)
    if not deleted:
        account.tell(Step.DELETE_ANSWER, State.NOT_NEEDED, message("there_is_nothing"))
    return len(deleted)
