"""Every call that sets the Worker up or takes it away, as values that are shown before anything is sent.

Source of methods, addresses and permissions: https://developers.cloudflare.com/api/resources/ (workers, workflows, r2,
user), 2026-11.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final
from urllib.parse import quote, urlsplit

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.messages import Message, message

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


class Step(StrEnum):
    """What a call is for."""

    READ_ADDRESS = "read_address"
    READ_WORKER = "read_worker"
    READ_WORKFLOW = "read_workflow"
    READ_BUCKET = "read_bucket"
    MAKE_BUCKET = "make_bucket"
    PUT_WORKER = "put_worker"
    PUT_WORKFLOW = "put_workflow"
    OPEN_ADDRESS = "open_address"
    DELETE_WORKER = "delete_worker"
    DELETE_WORKFLOW = "delete_workflow"
    LIST_ANSWERS = "list_answers"
    DELETE_ANSWER = "delete_answer"
    DELETE_BUCKET = "delete_bucket"
    VERIFY_TOKEN = "verify_token"  # noqa: S105 - not a token


@dataclass(frozen=True, slots=True)
class Names:
    """What the Worker and its parts are called in the account."""

    worker: str
    workflow: str
    bucket: str


@dataclass(frozen=True, slots=True)
class Call:
    """One call of Cloudflare's API.

    `path` is what follows the API's address, with the account's id or `ACCOUNT` in it. `sentence` says what the call
    does, `permission` what the token has to have for it, "" for none. `key` in a path is replaced by each name in turn.
    """

    step: Step
    method: str
    path: str
    sentence: Message
    permission: str = SCRIPTS_PERMISSION

    @property
    def words(self) -> str:
        """The call as the API's own pages name it."""
        return f"{self.method} {self.path}"


def names_of(worker: str = _WORKER) -> Names:
    """The names that go with a Worker's; those of the files for wrangler with the usual one. Raises UsageError."""
    if not _NAME.fullmatch(worker):
        raise UsageError(
            message(
                "“{name}” cannot be the name of the Worker. It has small letters, digits and “-”, at most {most} of"
                " them, and begins and ends with a letter or a digit.",
                name=worker,
                most=_MOST_OF_A_NAME,
            )
        )
    if worker == _WORKER:
        return Names(worker, "cf-batch-collect", "cf-batch-answers")
    return Names(worker, f"{worker}-workflow", f"{worker}-bucket")  # never those of another Worker's name


def names_at(url: str) -> Names:
    """The names that go with the Worker at an address of workers.dev. Raises UsageError for any other address."""
    found = _ADDRESS.fullmatch(urlsplit(url).hostname or "")
    if found is None:
        raise UsageError(
            message("The address of this connection does not tell what its Worker is called. Give the Worker's name.")
        )
    return names_of(found["worker"])


def token_page(account_id: str = "") -> str:
    """The dashboard's form for a token with the permissions of all calls, for this account where it is known."""
    keys, account = quote(_PERMISSION_KEYS, safe=""), account_id or "%2A"
    name = quote("CF Batch, once", safe="")
    return (
        f"https://dash.cloudflare.com/profile/api-tokens?permissionGroupKeys={keys}&accountId={account}&zoneId=all"
        f"&name={name}"
    )


def another_name(worker: str) -> str:
    """The name to offer where one is taken: the same with the next number behind it."""
    stem, _, number = worker.rpartition("-")
    if not stem or not number.isascii() or not number.isdigit() or len(number) > 3:
        stem, number = worker, "1"
    return f"{stem[: _MOST_OF_A_NAME - 5].rstrip('-')}-{int(number) + 1}"


def setting_up_calls(names: Names, account_id: str) -> tuple[Call, ...]:
    """The calls that set the Worker up, in their order. What they find there already is not made again."""
    of = _Calls(names, account_id or ACCOUNT)
    return (
        *(of.read_address(), of.read_worker(), of.read_workflow(), of.read_bucket()),
        *(of.make_bucket(), of.put_worker(), of.put_workflow(), of.open_address()),
        *of.verify_token(),
    )


def removing_calls(names: Names, account_id: str, *, keep_bucket: bool) -> tuple[Call, ...]:
    """The calls that take it away, in their order; with `keep_bucket` none about the bucket and what is in it."""
    of = _Calls(names, account_id or ACCOUNT)
    if keep_bucket:
        return (of.read_worker(), of.read_workflow(), of.delete_worker(), of.delete_workflow(), *of.verify_token())
    return (
        *(of.read_worker(), of.read_workflow(), of.read_bucket(), of.delete_worker(), of.delete_workflow()),
        *(of.list_answers(), of.delete_answer(), of.delete_bucket()),
        *of.verify_token(),
    )


class _Calls:
    """The calls for these names in an account."""

    def __init__(self, names: Names, account_id: str) -> None:
        self._names, self._root = names, f"/accounts/{account_id}"
        self._script = f"{self._root}/workers/scripts/{names.worker}"
        self._workflow = f"{self._root}/workflows/{names.workflow}"
        self._bucket = f"{self._root}/r2/buckets/{names.bucket}"

    def read_address(self) -> Call:
        sentence = message("Reads the account's address at workers.dev.")
        return Call(Step.READ_ADDRESS, "GET", f"{self._root}/workers/subdomain", sentence)

    def read_worker(self) -> Call:
        sentence = message("Looks whether there is a Worker “{name}”, and whose it is.", name=self._names.worker)
        return Call(Step.READ_WORKER, "GET", f"{self._script}/settings", sentence)

    def read_workflow(self) -> Call:
        sentence = message("Looks whether there is a Workflow “{name}”, and whose it is.", name=self._names.workflow)
        return Call(Step.READ_WORKFLOW, "GET", self._workflow, sentence)

    def read_bucket(self) -> Call:
        sentence = message("Looks whether there is a bucket “{name}” in R2.", name=self._names.bucket)
        return Call(Step.READ_BUCKET, "GET", self._bucket, sentence, STORAGE_PERMISSION)

    def make_bucket(self) -> Call:
        sentence = message("Makes the bucket “{name}” for the answers, if there is none.", name=self._names.bucket)
        return Call(Step.MAKE_BUCKET, "POST", f"{self._root}/r2/buckets", sentence, STORAGE_PERMISSION)

    def put_worker(self) -> Call:
        sentence = message("Puts the Worker “{name}” there, with its secret.", name=self._names.worker)
        return Call(Step.PUT_WORKER, "PUT", self._script, sentence)

    def put_workflow(self) -> Call:
        sentence = message("Makes the Workflow “{name}”, which collects answers.", name=self._names.workflow)
        return Call(Step.PUT_WORKFLOW, "PUT", self._workflow, sentence)

    def open_address(self) -> Call:
        sentence = message("Opens the Worker's address at workers.dev.")
        return Call(Step.OPEN_ADDRESS, "POST", f"{self._script}/subdomain", sentence)

    def delete_worker(self) -> Call:
        sentence = message("Deletes the Worker “{name}”; nothing is collected any more.", name=self._names.worker)
        return Call(Step.DELETE_WORKER, "DELETE", self._script, sentence)

    def delete_workflow(self) -> Call:
        sentence = message("Deletes the Workflow “{name}” with all that it has under way.", name=self._names.workflow)
        return Call(Step.DELETE_WORKFLOW, "DELETE", self._workflow, sentence)

    def list_answers(self) -> Call:
        sentence = message("Lists what this program has stored in the bucket “{name}”.", name=self._names.bucket)
        return Call(Step.LIST_ANSWERS, "GET", f"{self._bucket}/objects", sentence, STORAGE_PERMISSION)

    def delete_answer(self) -> Call:
        sentence = message("Deletes it, one answer after the other. What was not collected before is lost.")
        return Call(Step.DELETE_ANSWER, "DELETE", f"{self._bucket}/objects/{{key}}", sentence, STORAGE_PERMISSION)

    def delete_bucket(self) -> Call:
        sentence = message("Deletes the bucket “{name}”.", name=self._names.bucket)
        return Call(Step.DELETE_BUCKET, "DELETE", self._bucket, sentence, STORAGE_PERMISSION)

    def verify_token(self) -> tuple[Call, Call]:
        """What `checking.token_status` asks."""
        sentence = message("Only if the token is refused: asks whether it is valid, to say what is wrong with it.")
        of_account = message("The same for a token that is the account's own.")
        return (
            Call(Step.VERIFY_TOKEN, "GET", "/user/tokens/verify", sentence, ""),
            Call(Step.VERIFY_TOKEN, "GET", f"{self._root}/tokens/verify", of_account, ""),
        )
