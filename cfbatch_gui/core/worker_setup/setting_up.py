"""Setting up: everything is looked at first, then what is missing is made. Run again at any point it ends the same."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from cfbatch_gui.core.errors import ServiceRefused, UserError
from cfbatch_gui.core.messages import Message, enumerated, message
from cfbatch_gui.core.worker_setup.account import Account
from cfbatch_gui.core.worker_setup.account_calls import Names, Step, another_name, setting_up_calls
from cfbatch_gui.core.worker_setup.worker_files import WORKFLOW_CLASS, WorkerFiles, upload
from cfbatch_gui.core.workers_ai.api_tokens import Token


class NotOurs(UserError):
    """A Worker or a Workflow of this name is in the account and was not put there by this program.

    `other_name` is a name for the Worker that may be free.
    """

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
    """The Worker's secret; `is_known` is whether the program had it before."""

    token: Token
    is_known: bool


@dataclass(frozen=True, slots=True)
class SetUp:
    """A Worker that was set up: its address, its secret, and whether it was there before."""

    url: str
    secret: Secret
    was_there: bool


class SettingUp:
    """One run. `secret_for` is called with the Worker's address, before anything is changed in the account."""

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
        """Raise NotOurs for what another program or person has put there."""
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
        """The sentence of an error with what is in the account now."""
        if not self._has_begun:
            return message("{reason} Nothing was changed in the account.", reason=error.message)
        if not self._there:
            return message("{reason} Set it up again, and it goes on from there.", reason=error.message)
        return message(
            "{reason} In the account are now: {things}. Set it up again, and it goes on from there.",
            reason=error.message,
            things=enumerated(self._there),
        )
