"""The Worker is put into the user's account and taken away: all is looked at first, then what is missing is made.

Run again at any point it ends the same. Source of the calls, of what each needs, and of what a refusal means:
https://developers.cloudflare.com/api/resources/ (workers, workflows, r2, user), 2026-11.
"""

import asyncio
import re
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import quote, urlencode, urlsplit

import msgspec

from cfbatch_gui import __version__
from cfbatch_gui.core import errors
from cfbatch_gui.core.connections.address_book import free_name
from cfbatch_gui.core.connections.credentials import KeyringState
from cfbatch_gui.core.connections.user_connections import Connections
from cfbatch_gui.core.errors import ExportError, ServiceBusy, ServiceRefused, TokenRefused, UsageError, UserError
from cfbatch_gui.core.messages import Message, message
from cfbatch_gui.core.resources import resource
from cfbatch_gui.core.system.settings import SavedConnection
from cfbatch_gui.core.workers_ai.answers import decode
from cfbatch_gui.core.workers_ai.api_tokens import Token, check_secret
from cfbatch_gui.core.workers_ai.client import Repeating, Sleep, WorkersAI
from cfbatch_gui.core.workers_ai.limits import ExchangeLimit
from cfbatch_gui.core.workers_ai.refusals import Refusal, refusal, without_going_on
from cfbatch_gui.core.workers_ai.requests import multipart

SCRIPTS_PERMISSION: Final = "Workers Scripts Write"
STORAGE_PERMISSION: Final = "Workers R2 Storage Write"
ACCOUNT: Final = "{account}"  # stands in paths for an account id that is not known yet

_WORKER: Final = "cf-batch-door"
# A name is a label of the Worker's address. The bucket's name is the longest made of it; R2 takes 63 characters.
_NAME: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,51}[a-z0-9])?")
_MOST_OF_A_NAME: Final = 53
_ADDRESS: Final = re.compile(r"(?P<worker>[a-z0-9-]+)\.[a-z0-9-]+\.workers\.dev")
# With these permissions the dashboard fills in its form for a token. Source:
# https://developers.cloudflare.com/fundamentals/api/how-to/account-owned-token-template/, 2026-11.
_PERMISSION_KEYS: Final = '[{"key":"workers_scripts","type":"edit"},{"key":"workers_r2","type":"edit"}]'


class Step(Enum):
    """What a call is for: its method and its path below the account's, and what is said of it. The first eight set the
    Worker up, in their order, and what is read there is read again before it is taken away by the others; `{key}`
    stands for each name in turn.
    """

    READ_ADDRESS = "GET workers/subdomain", message("reads_account_address_workers_dev")
    READ_WORKER = "GET workers/scripts/{worker}/settings", message("looks_whether_there_is_worker_worker")
    READ_WORKFLOW = "GET workflows/{workflow}", message("looks_whether_there_is_workflow_workflow")
    READ_BUCKET = "GET r2/buckets/{bucket}", message("looks_whether_there_is_bucket_bucket")
    MAKE_BUCKET = "POST r2/buckets", message("makes_bucket_bucket_answers_if_there")
    PUT_WORKER = "PUT workers/scripts/{worker}", message("puts_worker_worker_there_secret")
    PUT_WORKFLOW = "PUT workflows/{workflow}", message("makes_workflow_workflow_collects_answers")
    OPEN_ADDRESS = "POST workers/scripts/{worker}/subdomain", message("opens_worker_address_workers_dev")
    DELETE_WORKER = "DELETE workers/scripts/{worker}", message("deletes_worker_worker_nothing_is_collected")
    DELETE_WORKFLOW = "DELETE workflows/{workflow}", message("deletes_workflow_workflow_all_under_way")
    LIST_ANSWERS = "GET r2/buckets/{bucket}/objects", message("lists_what_program_stored_bucket_bucket")
    DELETE_ANSWER = "DELETE r2/buckets/{bucket}/objects/{key}", message("deletes_one_answer_after_other_what")
    DELETE_BUCKET = "DELETE r2/buckets/{bucket}", message("deletes_bucket_bucket")


@dataclass(frozen=True, slots=True)
class Names:
    """The names of the Worker and its parts in the account."""

    worker: str
    workflow: str
    bucket: str


@dataclass(frozen=True, slots=True)
class Call:
    """`path` has the account's id or `ACCOUNT` in it, and perhaps `{key}`, for each name in turn."""

    step: Step
    method: str
    path: str
    sentence: Message
    permission: str

    @property
    def words(self) -> str:
        return f"{self.method} {self.path}"


def names_of(worker: str = _WORKER) -> Names:
    """The names that go with a Worker's. Raises UsageError."""
    if not _NAME.fullmatch(worker):
        raise UsageError(message("name_cannot_be_name_worker_small", name=worker, most=_MOST_OF_A_NAME))
    if worker == _WORKER:
        return Names(worker, "cf-batch-collect", "cf-batch-answers")
    return Names(worker, f"{worker}-workflow", f"{worker}-bucket")  # never those of another Worker's name


def names_at(url: str) -> Names:
    """The names that go with a Worker's address of workers.dev. Raises UsageError for any other address."""
    found = _ADDRESS.fullmatch(urlsplit(url).hostname or "")
    if found is None:
        raise UsageError(message("address_connection_does_not_tell_what"))
    return names_of(found["worker"])


def token_page(account_id: str = "") -> str:
    """The dashboard's form for a token with the permissions of all calls."""
    wanted = {"permissionGroupKeys": _PERMISSION_KEYS, "accountId": account_id or "*", "zoneId": "all"}
    query = urlencode({**wanted, "name": "CF Batch, once"}, quote_via=quote)
    return f"https://dash.cloudflare.com/profile/api-tokens?{query}"


def another_name(worker: str) -> str:
    """The name to offer where one is taken."""
    return f"{worker[: _MOST_OF_A_NAME - 2].rstrip('-')}-2"


_SETTING_UP: Final = tuple(Step)[:8]
_REMOVING: Final = (*_SETTING_UP[1:4], *tuple(Step)[8:])


def setting_up_calls(names: Names, account_id: str) -> tuple[Call, ...]:
    """In their order; what is there already is not made again."""
    return tuple(_call(step, names, account_id) for step in _SETTING_UP)


def removing_calls(names: Names, account_id: str, *, keep_bucket: bool) -> tuple[Call, ...]:
    """In their order; with `keep_bucket` none about the bucket."""
    calls = [_call(step, names, account_id) for step in _REMOVING]
    return tuple(call for call in calls if not (keep_bucket and call.permission == STORAGE_PERMISSION))


def _call(step: Step, names: Names, account_id: str) -> Call:
    filled = {**asdict(names), "key": "{key}"}
    request, sentence = step.value
    method, _, path = request.format_map(filled).partition(" ")
    permission = STORAGE_PERMISSION if path.startswith("r2/") else SCRIPTS_PERMISSION
    return Call(step, method, f"/accounts/{account_id or ACCOUNT}/{path}", sentence.filled(**filled), permission)


TAG: Final = "cf-batch"  # on every Worker that this program has put into an account


class UploadBody(bytes):
    """The body of an upload, in which the Worker's secret stands: its repr shows its length alone."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"UploadBody({len(self)} bytes)"


_R2_NOT_ACTIVATED: Final = 10042
_ADDRESS_NEEDED: Final = 10063  # an upload to an account that has no address at workers.dev
THERE: Final = message("is_there_already")
GONE: Final = message("is_not_there")
_NOT_THERE: Final = frozenset({10006, 10007, 10200})  # of buckets; of Workers and of keys in a bucket; of Workflows
_WRONG_ACCOUNT: Final = frozenset({7000, 7003})  # no such address: the account's id is in each
_BUCKET_NOT_SEEN: Final = 10085  # by an upload, for some seconds after the bucket was made
_BUCKET_WAIT: Final = 2.0


class NotThere(ServiceRefused):
    """What a call was about is not in the account."""


_NO_ADDRESS: Final = message("account_no_address_workers_dev_yet")


def refusal_of(call: Call, refused: Refusal) -> UserError:
    """The error for a refusal of a call."""
    codes, status, service = {error.code for error in refused.errors}, refused.status, refused.service
    usual = refusal(refused)
    detail, code = usual.detail, next((error.code for error in refused.errors if error.code), 0)
    is_missing = not codes & _WRONG_ACCOUNT and (status == 404 or bool(codes & _NOT_THERE))
    is_missing = is_missing and call.method in ("GET", "DELETE")
    if _R2_NOT_ACTIVATED in codes:
        return ServiceRefused(message("r2_is_not_activated_account_open"), detail=detail, code=code)
    if _ADDRESS_NEEDED in codes or (is_missing and call.step is Step.READ_ADDRESS):
        return ServiceRefused(_NO_ADDRESS, detail=detail, code=code)
    if is_missing:
        return NotThere(GONE, detail=detail, code=code)
    if isinstance(usual, TokenRefused) or status in (401, 403):
        needs = {"call": call.words, "permission": call.permission}
        sentence = message("service_does_not_let_token_make", service=service, **needs)
        return TokenRefused(sentence, detail=detail, code=code, status=status)
    if _BUCKET_NOT_SEEN in codes:
        unseen = message("service_does_not_see_new_bucket", service=service)
        return ServiceBusy(unseen, retry_after=_BUCKET_WAIT, detail=detail, code=code)
    if isinstance(usual, ServiceBusy):
        alone = without_going_on(usual.message)
        return ServiceBusy(alone, retry_after=usual.retry_after, detail=detail, code=code)
    if codes & _WRONG_ACCOUNT:
        sentence = message("service_does_not_know_account_check", service=service)
    elif call.step is Step.DELETE_BUCKET and status == 409:
        sentence = message("bucket_was_kept_r2_deletes_only")
    else:
        sentence = message("service_refused_call_details_hold_reason", service=service, call=call.words)
    return ServiceRefused(sentence, detail=detail, code=code)


_LIMIT: Final = ExchangeLimit(60.0, 8_000_000)  # a page of a thousand keys has less than a megabyte
_PATIENCE: Final = 4  # failures in a row; with the waits between them about seven seconds
_PER_PAGE: Final = 1_000
_PREFIXES: Final = ("orders/", "layouts/", "answers/")  # of all that the Worker stores
_KEY: Final = re.compile(r"(?:orders|layouts|answers)(?:/[A-Za-z0-9][A-Za-z0-9._-]*)+")
_LABEL: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_JSON: Final = "application/json"
_encode = msgspec.json.Encoder().encode

T = TypeVar("T")


class State(Enum):
    """How far a call is."""

    RUNNING = message("under_way")
    WAITING = message("waits")  # before it is made again
    DONE = message("done_3")
    NOT_NEEDED = message("not_needed")  # there already, or not there any more
    FAILED = message("failed_3")


Show = Callable[[Step, State, str], None]  # the note is what was found, or what is waited for


class _Facts(msgspec.Struct):
    """What the calls that read say: of the account, a Worker, a Workflow."""

    subdomain: str | None = None
    tags: list[str] | None = None
    script_name: str = ""


class _Object(msgspec.Struct):
    key: str = ""


_OBJECTS: Any = list[_Object] | None  # a type that type checkers take for none


class Account:
    """An account by a client of its API; `show` is called with how far each of `calls` is.

    All calls raise UserErrors that name the call and the permission, and hold no secret.
    """

    def __init__(self, client: WorkersAI, calls: Sequence[Call], show: Show, *, sleep: Sleep = asyncio.sleep) -> None:
        self._client, self._show, self._sleep = client, show, sleep
        self._calls = {call.step: call for call in calls}

    def tell(self, step: Step, state: State, note: str = "") -> None:
        self._show(step, state, note)

    async def address(self) -> str:
        """The account's name at workers.dev. Raises ServiceRefused."""
        name = (await self._make(Step.READ_ADDRESS, _Facts)).subdomain or ""
        if not _LABEL.fullmatch(name):
            self.tell(Step.READ_ADDRESS, State.FAILED)
            raise ServiceRefused(_NO_ADDRESS, detail=f"subdomain {name[:80]!r}", code=0)
        self.tell(Step.READ_ADDRESS, State.DONE, message("is_address", address=f"{name}.workers.dev"))
        return name

    async def is_worker_ours(self) -> bool | None:
        """Whether this program put the Worker there; None where there is none of this name."""
        if (found := await self._read(Step.READ_WORKER, _Facts)) is None:
            return None
        ours = TAG in (found.tags or ())
        self.tell(Step.READ_WORKER, State.DONE, THERE if ours else message("there_is_one_program_did_not"))
        return ours

    async def worker_of_workflow(self) -> str | None:
        if (found := await self._read(Step.READ_WORKFLOW, _Facts)) is None:
            return None
        self.tell(Step.READ_WORKFLOW, State.DONE, message("there_is_one_worker_name", name=found.script_name))
        return found.script_name

    async def has_bucket(self) -> bool:
        if await self._read(Step.READ_BUCKET, msgspec.Raw) is None:
            return False
        self.tell(Step.READ_BUCKET, State.DONE, THERE)
        return True

    async def _read(self, step: Step, kind: type[T]) -> T | None:
        """None for what is not there."""
        try:
            return await self._make(step, kind)
        except NotThere:
            self.tell(step, State.DONE, message("there_is_none_yet"))
            return None

    async def put(self, step: Step, body: bytes, content_type: str = _JSON, *, hidden: Sequence[Token] = ()) -> None:
        """`hidden` are the secrets in the body."""
        await self._make(step, msgspec.Raw, body, content_type=content_type, hidden=hidden)
        self.tell(step, State.DONE)

    async def delete(self, step: Step) -> bool:
        """False when it is not there any more."""
        try:
            await self._make(step, msgspec.Raw)
        except NotThere:
            self.tell(step, State.NOT_NEEDED, GONE)
            return False
        self.tell(step, State.DONE)
        return True

    async def empty(self) -> int:
        """Delete what the Worker has stored, and nothing else; how many objects."""
        deleted: set[str] = set()
        for prefix in _PREFIXES:
            while keys := [key for key in await self._keys(prefix) if _KEY.fullmatch(key)]:
                if not deleted.isdisjoint(keys):
                    raise errors.ReplyError(message("r2_still_lists_what_said_was"), detail=f"{len(keys)} keys")
                for key in keys:
                    with suppress(NotThere):
                        await self._make(Step.DELETE_ANSWER, msgspec.Raw, key=key)
                    deleted.add(key)
                    self.tell(Step.DELETE_ANSWER, State.DONE, message("n_are_deleted", n=len(deleted)))
        if not deleted:
            self.tell(Step.DELETE_ANSWER, State.NOT_NEEDED, message("there_is_nothing"))
        return len(deleted)

    async def _keys(self, prefix: str) -> list[str]:
        """At most a page of keys that begin with `prefix`; none without the bucket."""
        query = urlencode({"per_page": _PER_PAGE, "prefix": prefix})
        found: list[_Object] | None = None
        with suppress(NotThere):
            found = await self._make(Step.LIST_ANSWERS, _OBJECTS, query=query)
        self.tell(Step.LIST_ANSWERS, State.DONE)
        return [each.key for each in found or ()]

    async def _make(
        self,
        step: Step,
        kind: type[T],
        body: bytes = b"",
        *,
        content_type: str = _JSON,
        hidden: Sequence[Token] = (),
        query: str = "",
        key: str = "",
    ) -> T:
        # Slashes of a key stand for themselves, as the API's page demands; whoever gives a key has checked its form.
        call = self._calls[step]
        path = call.path.removeprefix("/").replace("{key}", quote(key, safe="/"))

        async def once() -> T:
            self.tell(step, State.RUNNING)
            answer = await self._client.call_api(
                f"{path}?{query}" if query else path,
                body,
                what="setup",
                method=call.method,
                content_type=content_type,
                hidden=hidden,
                limit=_LIMIT,
                refuse=partial(refusal_of, call),
            )
            return decode(kind, answer.result, step.name.lower())

        def waiting(error: UserError, seconds: float) -> None:
            self.tell(step, State.WAITING, message("reason_is_tried_again_n_s", reason=error.message, n=seconds))

        try:
            return await Repeating(patience=_PATIENCE, sleep=self._sleep, waiting=waiting)(once)
        except NotThere:
            raise
        except UserError:
            self.tell(step, State.FAILED)
            raise


WORKFLOW_CLASS: Final = "Collect"

_MAIN_MODULE: Final = "collect.js"
_FOLDER: Final = "cf-batch-worker"
_CONFIGURATION: Final = "wrangler.jsonc"  # the dates of both configurations are one
_DATE: Final = re.compile(r'"compatibility_date":\s*"(\d{4}-\d\d-\d\d)"')


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
    content_type, body = multipart([("metadata", "", _JSON, [_encode(metadata)]), *parts])
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


class NotOurs(UserError):
    """What has this name was not put there by this program; `other_name` may be free."""

    def __init__(self, message: str, names: Names) -> None:
        super().__init__(message)
        self.other_name = another_name(names.worker)


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

    def __init__(self, connections: Connections, *, sleep: Sleep = asyncio.sleep) -> None:
        self._connections, self._address_book, self._sleep = connections, connections.address_book, sleep

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
        show: Show = lambda *told: None,
    ) -> Connected:
        """Set the Worker up and save the connection to it. Raises Stopped and NotConnected.

        `may_replace` is the user's word that what others put there is replaced. The secret is `own_secret`,
        else the connection's, else a new one; with `must_keep_secret` only where a keyring keeps it.
        """
        client = self._address_book.account_client(account_id, token)
        calls, files = setting_up_calls(names, client.connection.account_id), await asyncio.to_thread(worker_files)
        account = Account(client, calls, show, sleep=self._sleep)
        with _stopping("reason_nothing_was_changed_account"):
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
        with _stopping("reason_was_begun_set_up_again"):
            await _make_bucket(account, names.bucket, has_bucket=has_bucket)
            content_type, body = upload(files, names, secret, keep_variables=is_ours is True)
            await account.put(Step.PUT_WORKER, body, content_type, hidden=(secret,))
            await account.put(Step.PUT_WORKFLOW, _encode({"script_name": names.worker, "class_name": WORKFLOW_CLASS}))
            await account.put(Step.OPEN_ADDRESS, _encode({"enabled": True, "previews_enabled": False}))
        with _stopping("worker_is_set_up_but_connection"):
            name = free_name(title, (each.name for each in self._address_book.saved()))
            kept = replace(record or SavedConnection("", name, "worker", url=url), paid_plan=paid_plan)
            kept = await self._connections.save(kept, secret="" if known else secret.reveal())
        return Connected(kept, record is None, has_other_secret=is_ours is not None and known is None)

    async def take_down(
        self, account_id: str, token: Token, names: Names, *, keep_bucket: bool, show: Show = lambda *told: None
    ) -> TakenDown:
        """Take the Worker away; the connection stays. What is not there any more counts as taken away.

        Raises Stopped and NotConnected.
        """
        client = self._address_book.account_client(account_id, token)
        planned = removing_calls(names, client.connection.account_id, keep_bucket=keep_bucket)
        account = Account(client, planned, show, sleep=self._sleep)
        with _stopping("reason_nothing_was_taken_away"):
            if await account.is_worker_ours() is False:
                raise NotOurs(message("worker_name_was_not_put_there", name=names.worker), names)
            owner = await account.worker_of_workflow()
            has_bucket = not keep_bucket and await account.has_bucket()
        with _stopping("reason_was_begun_take_away_again"):
            worker, workflow = await account.delete(Step.DELETE_WORKER), False
            if owner in (None, names.worker):
                workflow = await account.delete(Step.DELETE_WORKFLOW)
            else:
                sentence = message("belongs_worker_name_stays", name=owner)
                account.tell(Step.DELETE_WORKFLOW, State.NOT_NEEDED, sentence)
            if has_bucket:
                answers = await account.empty()
                return TakenDown(names.worker, worker, workflow, await account.delete(Step.DELETE_BUCKET), answers)
            for call in () if keep_bucket else planned[-3:]:  # about the bucket
                account.tell(call.step, State.NOT_NEEDED, GONE)
            return TakenDown(names.worker, worker, workflow)

    async def _known_secret(self, record: SavedConnection | None, *, must_keep: bool) -> Token | None:
        """The connection's. Raises SecretWouldBeLost where there is none, and none that is made could be kept."""
        credentials = self._address_book.credentials
        known = await credentials.token(record.id if record is not None else _NEW, check=check_secret)
        if record is not None and known is not None:
            return known
        if must_keep and credentials.state is KeyringState.ABSENT:
            raise SecretWouldBeLost(message("there_is_no_keyring_on_computer"))
        return None

    def _record(self, url: str) -> SavedConnection | None:
        workers = (each for each in self._address_book.saved() if each.kind == "worker")
        return next((each for each in workers if each.url.rstrip("/").lower() == url), None)


@contextmanager
def _stopping(code: str) -> Iterator[None]:
    """Raises Stopped for any UserError, with the sentence that says what that means for the account."""
    try:
        yield
    except UserError as error:
        raise Stopped(message(code, reason=error.message), reason=error) from error


def _check_owners(names: Names, is_ours: bool | None, owner: str | None) -> None:
    other = another_name(names.worker)
    if is_ours is False:
        raise NotOurs(message("there_is_worker_name_account_program", name=names.worker, other=other), names)
    if owner not in (None, names.worker):
        sentence = message("there_is_workflow_name_account_worker", name=names.workflow, owner=owner, other=other)
        raise NotOurs(sentence, names)


async def _make_bucket(account: Account, name: str, *, has_bucket: bool) -> None:
    if has_bucket:
        account.tell(Step.MAKE_BUCKET, State.NOT_NEEDED, THERE)
        return
    try:
        await account.put(Step.MAKE_BUCKET, _encode({"name": name}))
    except ServiceRefused:
        # Made after all, by a call whose answer was lost or by another run: then there is one now.
        if not await account.has_bucket():
            raise
        account.tell(Step.MAKE_BUCKET, State.DONE)
