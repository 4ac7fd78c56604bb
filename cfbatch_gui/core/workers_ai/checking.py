"""The free test of a connection: service reached, token accepted, account found, model takes batches."""

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import msgspec

from cfbatch_gui.core import errors
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.workers_ai.answers import decode
from cfbatch_gui.core.workers_ai.client import WorkersAI
from cfbatch_gui.core.workers_ai.collector import NO_ROOM, NO_ROOM_SENTENCE, AccountCollector
from cfbatch_gui.core.workers_ai.connection_kinds import ConnectionKind
from cfbatch_gui.core.workers_ai.model_listing import is_marked_for_batches, read_entries
from cfbatch_gui.core.workers_ai.refusals import without_going_on

TITLES: Final = (
    message("service_reached"),
    message("token_accepted"),
    message("account_found"),
    message("model_takes_batches"),
)
WORKER_TITLES: Final = (
    message("worker_reached"),
    message("secret_accepted"),
    message("workers_ai_answers"),
    message("model_takes_batches"),
)
COLLECTING_TITLE: Final = message("collects_answers")
_REACHED, _TOKEN, _ACCOUNT, _BATCHES = range(4)

_WRONG_ADDRESS = (7000, 7003)
_OF_THE_MODEL = (5006, 5007, 5018, 5028, 3041, 3042, 8007)
_JUNK = (9106, 6003, 6111)  # the Authorization header does not hold a token
_OTHER_ACCOUNT = message("token_is_not_account_check_account")


class TokenStatus(msgspec.Struct):
    """`status` is "active", "disabled" or "expired"."""

    status: str = ""
    expires_on: datetime | None = None
    not_before: datetime | None = None


@dataclass(frozen=True, slots=True)
class CheckResult:
    """`ok` is None when an earlier check failed or it is not certain. Batches need it if `is_needed`."""

    title: str
    ok: bool | None
    sentence: str = ""
    is_needed: bool = True


def titles_of(kind: ConnectionKind) -> tuple[str, str, str, str]:
    """The titles of the four checks, in the order in which they run."""
    return WORKER_TITLES if kind is ConnectionKind.WORKER else TITLES


def has_failed(results: Sequence[CheckResult]) -> bool:
    """Whether something does not work that batches need."""
    return any(result.ok is False and result.is_needed for result in results)


def has_passed(results: Sequence[CheckResult]) -> bool:
    """Whether all that batches need worked; what is asked last stays open for a gateway."""
    needed = [result for result in results if result.is_needed]
    return bool(needed) and not has_failed(needed) and all(result.ok for result in needed[:-1])


async def check_connection(client: WorkersAI, model: str) -> tuple[CheckResult, ...]:
    """Check service, token, account and model, in this order, free and without a text. Raises NotConnected.

    A fifth result says whether a Worker collects, where it does or is set up to.
    """
    if client.connection.kind is ConnectionKind.WORKER:
        return await _check_worker(client, model)
    try:
        answer = await client.find_models(model.rsplit("/", 1)[-1])
    except errors.NotConnected:
        raise
    except errors.TokenRefused as error:
        return _failed_at(TITLES, _TOKEN, error, await _why_refused(client, error))
    except errors.ServiceRefused as error:
        if error.code in _WRONG_ADDRESS and not isinstance(error, errors.ServiceBusy):
            wrong = message("service_no_account_id_copy_from", service=client.connection.title)
            return _failed_at(TITLES, _ACCOUNT, error, wrong)
        return _failed_at(TITLES, _TOKEN, error)
    except errors.UserError as error:
        return _failed_at(TITLES, _REACHED, error)
    status = await token_status(client)
    good = [CheckResult(title, True) for title in TITLES[:3]]
    if status is not None and status.expires_on is not None:
        good[_TOKEN] = CheckResult(TITLES[_TOKEN], True, message("valid_until_day", day=_day(status.expires_on)))
    last = _model_result(answer.result, model)
    if client.connection.kind is ConnectionKind.GATEWAY and last.ok is not False:
        last = await _gateway_result(client, model)
    return (*good, last)


async def _check_worker(client: WorkersAI, model: str) -> tuple[CheckResult, ...]:
    try:
        await client.probe(model)
    except errors.TokenRefused as error:
        wrong = message("worker_refused_secret_enter_one_was") if error.status == 401 else ""
        return _failed_at(WORKER_TITLES, _TOKEN, error, wrong)
    except errors.ServiceRefused as error:
        if error.code in _WRONG_ADDRESS:
            return _failed_at(WORKER_TITLES, _REACHED, error, message("address_answers_but_is_not_worker"))
        return _failed_at(WORKER_TITLES, _BATCHES if error.code in _OF_THE_MODEL else _ACCOUNT, error)
    except errors.ConnectionProblem as error:
        return _failed_at(WORKER_TITLES, _REACHED, error)
    return (*(CheckResult(title, True) for title in WORKER_TITLES), *await _check_collecting(client))


async def _check_collecting(client: WorkersAI) -> tuple[CheckResult, ...]:
    is_wanted, has_room = client.connection.collects, False
    try:
        has_room = (await AccountCollector(client).greeting()).collects > 0
    except errors.UserError as error:
        if is_wanted and error.code != NO_ROOM:
            return (CheckResult(COLLECTING_TITLE, None, error.message, is_needed=False),)
    if not has_room and not is_wanted:
        return ()
    sentence = message("can_switch_collect_answers_my_account") if has_room else NO_ROOM_SENTENCE
    return (CheckResult(COLLECTING_TITLE, has_room, "" if has_room and is_wanted else sentence, is_needed=False),)


async def _why_refused(client: WorkersAI, error: errors.TokenRefused) -> str:
    service = client.connection.title
    if error.code in _JUNK:
        return message("service_says_is_no_api_token", service=service)
    status = await token_status(client)
    if status is None:
        return _OTHER_ACCOUNT if error.status == 403 else message("service_does_not_know_token_was", service=service)
    if status.status == "expired" and status.expires_on is not None:
        return message("token_expired_on_day_create_new", day=_day(status.expires_on))
    if status.status == "disabled":
        return message("token_been_switched_off_switch_on")
    if status.not_before is not None and status.not_before.timestamp() > client.now():
        return message("token_is_valid_from_day_on", day=_day(status.not_before))
    return _OTHER_ACCOUNT if error.status == 403 else message("token_is_valid_but_may_not")


async def token_status(client: WorkersAI) -> TokenStatus | None:
    """The status as a user's token, else as an account's; None when neither succeeds.

    Messages of the answer are ignored: they hold code 10000 for a valid token too.
    """
    for rest in ("user/tokens/verify", f"accounts/{client.connection.account_id}/tokens/verify"):
        try:
            return decode(TokenStatus, (await client.call_api(rest)).result, "token status")
        except errors.UserError:
            continue
    return None


async def _gateway_result(client: WorkersAI, model: str) -> CheckResult:
    try:
        await client.probe(model)
    except errors.UserError as error:
        return _failed(TITLES[_BATCHES], error)
    return CheckResult(TITLES[_BATCHES], None, message("gateway_answers_cloudflare_does_not_say"))


def _failed_at(
    titles: tuple[str, ...], question: int, error: errors.UserError, sentence: str = ""
) -> tuple[CheckResult, ...]:
    passed = (CheckResult(title, True) for title in titles[:question])
    left_open = (CheckResult(title, None) for title in titles[question + 1 :])
    return (*passed, _failed(titles[question], error, sentence), *left_open)


def _failed(title: str, error: errors.UserError, sentence: str = "") -> CheckResult:
    """A busy service leaves the answer open."""
    if not isinstance(error, errors.ServiceBusy):
        return CheckResult(title, False, sentence or error.message)
    minutes, alone = max(1, math.ceil(error.retry_after / 60)), without_going_on(error.message)
    return CheckResult(title, None, message("sentence_test_again_n_minutes", n=minutes, sentence=alone))


def _model_result(result: msgspec.Raw, model: str) -> CheckResult:
    ok, sentence = None, message("list_models_could_not_be_read")
    with suppress(errors.ReplyError):
        found = next((each for each in read_entries(result) if each.name == model), None)
        if found is None:
            ok, sentence = False, message("model_is_not_account_list_models", model=model)
        elif is_marked_for_batches(found):
            return CheckResult(TITLES[_BATCHES], True)
        else:
            # The catalogue has at times not marked bge-m3 for batches, while the pages about batches still used it.
            sentence = message("cloudflare_list_does_not_mark_batches")
    return CheckResult(TITLES[_BATCHES], ok, sentence)


def _day(moment: datetime) -> str:
    return f"{moment.astimezone():%Y-%m-%d}"
