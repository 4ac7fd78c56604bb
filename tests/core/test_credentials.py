import asyncio
import pickle
import threading
from collections.abc import Iterator
from pathlib import Path

import keyring.backends.fail
import keyring.backends.null
import pytest
from keyring.backend import KeyringBackend

from cfbatch_gui.core.connections.credentials import Credentials, KeyringState, Lock, TokenSource
from cfbatch_gui.core.errors import Action, DataError, KeyringUnavailable, NotConnected
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.settings import SavedConnection
from cfbatch_gui.core.workers_ai.api_tokens import Token, check_form, check_secret
from tests import canary
from tests.support.keyrings import MemoryKeyring
from tests.support.sentences import refuses

TEXT, OTHER = canary.TOKEN, canary.OTHER_TOKEN
TOKEN = Token(TEXT)


class HangingKeyring(MemoryKeyring):
    """A prompt that nobody answers until `answered` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.answered = threading.Event()
        self.asked = 0

    def get_password(self, service: str, username: str) -> str | None:
        self.asked += 1
        self.answered.wait()
        return super().get_password(service, username)

    async def answer(self, credentials: Credentials) -> None:
        """It is answered, and they have heard of it."""
        told = asyncio.Event()
        credentials.changed = told.set
        self.answered.set()
        async with asyncio.timeout(240):
            await told.wait()


class BrokenKeyring(MemoryKeyring):
    """What a headless machine does: exceptions that keyring does not name."""

    def get_password(self, service: str, username: str) -> str | None:
        raise OSError(f"no bus for {TEXT}")


@pytest.fixture
def hanging() -> Iterator[HangingKeyring]:
    backend = HangingKeyring()
    yield backend
    backend.answered.set()


async def test_a_token_is_kept_read_back_and_forgotten() -> None:
    backend = MemoryKeyring()
    assert await Credentials(backend, {}).save("cloudflare", TOKEN) is TokenSource.KEYRING
    assert backend.stored == {("CF Batch", "cloudflare"): TEXT}

    later = Credentials(backend, {})
    assert await later.token("cloudflare") == TOKEN
    assert await later.token_source("cloudflare") is TokenSource.KEYRING
    assert await later.token("practice") is None
    await later.forget("cloudflare")
    await later.forget("cloudflare")
    assert await later.token("cloudflare") is None
    assert await later.token_source("cloudflare") is None
    assert backend.stored == {}


async def test_a_keyring_that_hangs_costs_its_time_limit_once_and_has_what_it_takes_late(
    hanging: HangingKeyring,
) -> None:
    credentials = Credentials(hanging, {}, time_limit=0.2)
    assert await credentials.save("cloudflare", TOKEN) is TokenSource.SESSION
    assert await credentials.token("cloudflare") == TOKEN
    assert await credentials.token_source("cloudflare") is TokenSource.SESSION
    for _ in range(2):
        with pytest.raises(KeyringUnavailable):
            await credentials.token("another")
    assert hanging.asked == 1  # whoever asks later does not wait for it again
    await hanging.answer(credentials)
    assert await credentials.token_source("cloudflare") is TokenSource.KEYRING
    assert hanging.stored == {("CF Batch", "cloudflare"): TEXT}


async def test_a_keyring_that_answers_late_is_used_again(hanging: HangingKeyring) -> None:
    hanging.stored["CF Batch", "cloudflare"] = TEXT
    credentials = Credentials(hanging, {}, time_limit=0.1)
    with pytest.raises(KeyringUnavailable):
        await credentials.token("cloudflare")
    assert credentials.state is KeyringState.SILENT
    await hanging.answer(credentials)
    assert await credentials.token("cloudflare") == TOKEN
    assert (credentials.state, hanging.asked) == (KeyringState.OPEN, 1)


async def test_all_who_need_a_token_at_once_share_one_question(hanging: HangingKeyring) -> None:
    hanging.stored["CF Batch", "cloudflare"] = TEXT
    credentials = Credentials(hanging, {})
    asking = [asyncio.ensure_future(credentials.token("cloudflare")) for _ in range(5)]
    await asyncio.sleep(0)
    hanging.answered.set()
    assert await asyncio.gather(*asking) == [TOKEN] * 5
    assert hanging.asked == 1


async def test_a_locked_keyring_is_asked_once_and_again_only_when_the_user_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    backend, state, answers, told = MemoryKeyring(), [Lock.LOCKED], [Lock.LOCKED, Lock.OPEN], list[KeyringState]()
    backend.stored["CF Batch", "cloudflare"] = TEXT

    def lock(_: object, *, unlock: bool = False) -> Lock:
        if unlock:
            state[0] = answers.pop(0)
        return state[0]

    monkeypatch.setattr("cfbatch_gui.core.connections.credentials.lock_of", lock)
    credentials = Credentials(backend, {})
    credentials.changed = lambda: told.append(credentials.state)
    locked, refused = "your_keyring_is_locked_unlock_what", "your_keyring_was_not_unlocked_unlock"
    for may_prompt, code in ((False, locked), (True, refused), (True, refused)):
        with refuses(KeyringUnavailable, code) as caught:
            await credentials.token("cloudflare", may_prompt=may_prompt)
        assert caught.value.action is Action.UNLOCK
    await credentials.look_again()
    await credentials.unlock()
    assert told == [KeyringState.REFUSED, KeyringState.OPEN] and not answers
    assert credentials.has_moved_on(caught.value)
    assert await credentials.token("cloudflare", may_prompt=False) == TOKEN


@pytest.mark.parametrize("kind", [keyring.backends.fail.Keyring, keyring.backends.null.Keyring])
async def test_without_a_keyring_or_with_one_that_forgets_the_token_lives_in_memory(kind: type[KeyringBackend]) -> None:
    backend = kind()
    credentials = Credentials(backend, {})
    assert await credentials.token("cloudflare") is None
    assert (credentials.state is KeyringState.ABSENT) is (kind is keyring.backends.fail.Keyring)
    assert await credentials.save("cloudflare", TOKEN) is TokenSource.SESSION
    assert await credentials.token("cloudflare") == TOKEN
    assert await Credentials(backend, {}).token("cloudflare") is None


async def test_a_keyring_that_fails_is_not_taken_for_an_empty_one(caplog: pytest.LogCaptureFixture) -> None:
    credentials = Credentials(BrokenKeyring(), {})
    with pytest.raises(KeyringUnavailable) as caught:
        await credentials.token("cloudflare")
    assert credentials.state is KeyringState.BROKEN and caught.value.action is Action.OPEN_CONNECTION
    assert await credentials.save("cloudflare", TOKEN) is TokenSource.SESSION
    assert await credentials.token("cloudflare") == TOKEN
    assert TEXT not in caplog.text + str(caught.value) + caught.value.detail


async def test_the_environment_wins_and_is_never_stored() -> None:
    backend = MemoryKeyring()
    await Credentials(backend, {}).save("cloudflare", TOKEN)
    credentials = Credentials(backend, {"CLOUDFLARE_API_TOKEN": OTHER})
    assert await credentials.token("cloudflare") == Token(OTHER)
    assert await credentials.token_source("cloudflare") is TokenSource.ENVIRONMENT
    assert await credentials.token("practice") is None
    assert backend.stored == {("CF Batch", "cloudflare"): TEXT}


async def test_rubbish_in_the_environment_is_said_without_repeating_it() -> None:
    credentials = Credentials(MemoryKeyring(), {"CLOUDFLARE_API_TOKEN": f"{TEXT} {OTHER}"})
    with pytest.raises(NotConnected) as caught:
        await credentials.token("cloudflare")
    assert TEXT not in str(caught.value) + caught.value.detail


async def test_only_keyrings_that_are_known_to_keep_secrets_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = MemoryKeyring()
    monkeypatch.setattr(keyring.core, "_keyring_backend", backend)
    assert await Credentials(environ={}).save("cloudflare", TOKEN) is TokenSource.SESSION
    assert backend.stored == {}


@pytest.mark.parametrize("named", ["null", "fail", "keyring.backends.null.Keyring", "no.such.Keyring"])
async def test_a_keyring_that_is_switched_off_is_none(
    named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", named)
    monkeypatch.setattr(keyring.core, "_keyring_backend", None)
    program = await Program.open(tmp_path, environ={}, credentials=Credentials(environ={}))
    await program.connections.save(SavedConnection("k7m2p9qx", "Lisbon", "cloudflare", account_id="a" * 32))
    *_, summary = await program.address_book.summaries()
    assert program.credentials.state is KeyringState.ABSENT
    assert not summary.is_ready and not summary.waits_for_keyring and "CFBATCH_SECRET_K7M2P9QX" in summary.sentence
    assert await program.credentials.save("k7m2p9qx", TOKEN) is TokenSource.SESSION
    *_, summary = await program.address_book.summaries()
    assert summary.is_ready
    await program.connections.remove("k7m2p9qx")
    assert await program.credentials.token("k7m2p9qx") is None
    await program.close()


async def test_on_windows_a_token_stays_on_this_computer(monkeypatch: pytest.MonkeyPatch) -> None:
    class Vault(MemoryKeyring):
        persist = "enterprise"  # as keyring's own for Windows has it

    Vault.__module__ = "keyring.backends.Windows"
    vault = Vault()
    monkeypatch.setattr(keyring.core, "_keyring_backend", vault)
    assert await Credentials(environ={}).save("cloudflare", TOKEN) is TokenSource.KEYRING
    assert vault.persist == "local machine"


def test_a_token_does_not_show_itself() -> None:
    assert TEXT not in f"{TOKEN} {TOKEN!r} {[TOKEN]}"
    assert TOKEN.reveal() == TEXT
    assert Token(TEXT) == TOKEN
    assert Token(OTHER) != TOKEN
    assert len({TOKEN, Token(TEXT), Token(OTHER)}) == 2
    with pytest.raises(TypeError):
        pickle.dumps(TOKEN)
    with pytest.raises(TypeError):
        vars(TOKEN)


@pytest.mark.parametrize(
    "pasted",
    [
        *("", "cfk_0123456789abcdefghijklmnop", "v1.0-0123456789abcdef0123456789", "cfut_short", "x" * 1001),
        *(f"{TEXT}\n{OTHER}", f"{TEXT}\u0430"),
    ],
    ids=range(7),
)
def test_what_is_no_token_is_said_without_repeating_it(pasted: str) -> None:
    with pytest.raises(NotConnected) as caught:
        check_form(pasted)
    assert pasted == "" or pasted not in caught.value.message + caught.value.detail


@pytest.mark.parametrize("secret", ["", "short", "1234567890", "two words", "ünsayable", "x" * 1001])
def test_what_cannot_be_sent_as_a_secret_or_occurs_by_chance_is_said(secret: str) -> None:
    with pytest.raises(NotConnected):
        check_secret(secret)


async def test_each_connection_has_a_variable_of_its_own() -> None:
    environ = {"CFBATCH_SECRET_K7M2P9QX": TEXT, "CFBATCH_SECRET_K7M2P9QX_GATEWAY": canary.SECRET}
    credentials = Credentials(MemoryKeyring(), environ)
    assert await credentials.token("k7m2p9qx") == TOKEN
    assert await credentials.token("k7m2p9qx/gateway", check=check_secret) == Token(canary.SECRET)
    assert await credentials.token_source("k7m2p9qx") is TokenSource.ENVIRONMENT
    assert await credentials.token("cloudflare") is None and await credentials.token("another1") is None


async def test_a_token_that_was_not_removed_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MemoryKeyring, "delete_password", lambda *_: None)
    credentials = Credentials(MemoryKeyring(), {})
    await credentials.save("cloudflare", TOKEN)
    with pytest.raises(DataError):
        await credentials.forget("cloudflare")
