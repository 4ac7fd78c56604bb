"""Taking away: the Worker, its Workflow, and the bucket with what this program has stored in it. Nothing else goes."""

import re
from dataclasses import dataclass
from typing import Final

from cfbatch_gui.core.errors import ReplyError, UserError
from cfbatch_gui.core.messages import counted_message, enumerated, message
from cfbatch_gui.core.worker_setup.account import Account
from cfbatch_gui.core.worker_setup.account_calls import Names, Step, another_name, removing_calls
from cfbatch_gui.core.worker_setup.refusals import StorageNotActivated
from cfbatch_gui.core.worker_setup.setting_up import NotOurs, Stopped

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
        """Delete what the Worker has stored; the number of objects. Others are neither listed nor deleted."""
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
        """The sentence of an error with what has been taken away already."""
        if not self._gone:
            return message("{reason} Nothing was taken away.", reason=error.message)
        return message(
            "{reason} Taken away are: {things}. Take it away again, and it goes on from there.",
            reason=error.message,
            things=enumerated(self._gone),
        )
