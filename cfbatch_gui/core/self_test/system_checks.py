"""What the program runs on: its version, SQLite, the keyring, and the certificates for TLS."""

import asyncio
import platform
import secrets
import sqlite3
import ssl
import sys
from contextlib import closing
from pathlib import Path

import cfbatch_gui
from cfbatch_gui.core.connections.credentials import Credentials, TokenSource
from cfbatch_gui.core.connections.keyring_lock import Lock
from cfbatch_gui.core.connections.keyring_parts import has_part_for
from cfbatch_gui.core.errors import KeyringUnavailable
from cfbatch_gui.core.messages import counted_message, message
from cfbatch_gui.core.self_test.findings import Check, Finding, failed, ok, skipped
from cfbatch_gui.core.system.distributions import this_distribution, way_to_certificates
from cfbatch_gui.core.workers_ai.api_tokens import Token
from cfbatch_gui.core.workers_ai.transport import system_certificates

_KEYRING_SECONDS = 10.0  # for each question to the keyring


def system_checks(folder: Path) -> tuple[Check, ...]:
    """The checks of this module; `folder` is a new one for what they write."""
    return (
        Check(message("Version"), _version),
        Check(message("SQLite"), lambda: _sqlite(folder / "self-test.db")),
        Check(message("Keyring"), lambda: asyncio.run(_keyring())),
        Check(message("Certificates for TLS"), _certificates),
    )


def _version() -> Finding:
    is_packed = getattr(sys, "frozen", False)
    place = Path(sys.executable).parent if is_packed else Path(cfbatch_gui.__file__).parent
    return ok(
        message(
            "CF Batch {version}, Python {python}, {system}; in {place}",
            version=cfbatch_gui.__version__,
            python=platform.python_version(),
            system=platform.platform(),
            place=place,
        )
    )


def _sqlite(path: Path) -> Finding:
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE texts (text TEXT)")
        database.execute("INSERT INTO texts VALUES ('ä')")
        database.commit()
    with closing(sqlite3.connect(path)) as database:
        (text,) = database.execute("SELECT text FROM texts").fetchone()
    sentence = message("SQLite {version} writes and reads.", version=sqlite3.sqlite_version)
    return ok(sentence) if text == "ä" else failed(message("SQLite gave back something else than was written."))


async def _keyring() -> Finding:
    """Store, read back and delete an entry under a name of its own. Its user is never asked for a password."""
    if not has_part_for(sys.platform):
        return failed(
            message("The part for the keyring of this system is missing in this installation. Install CF Batch again.")
        )
    own = Credentials(environ={}, time_limit=_KEYRING_SECONDS)
    name = f"self-test-{secrets.token_hex(8)}"
    try:
        lock = await asyncio.wait_for(own.lock(), _KEYRING_SECONDS)
    except TimeoutError:
        return failed(message("The keyring of this system does not answer. Log in again, and try once more."))
    except Exception as error:  # noqa: BLE001 - backends raise whatever their system raises
        return skipped(message("The keyring of this system cannot be asked: {kind}.", kind=type(error).__name__))
    if lock is None:
        return skipped(
            message(
                "There is no keyring here. A token is kept in memory while the program runs, or read from the "
                "environment."
            )
        )
    if lock is not Lock.OPEN:
        return skipped(
            message("The keyring is locked, or there is none in it yet. Unlock it, and start the self-test again.")
        )
    return await _round_trip(own, name)


async def _round_trip(own: Credentials, name: str) -> Finding:
    token = Token(f"not-a-token-{secrets.token_hex(16)}")
    try:
        source = await own.save(name, token)
        other = Credentials(environ={}, time_limit=_KEYRING_SECONDS)  # it has no memory of the entry
        is_back = source is TokenSource.KEYRING and await other.token(name, check=Token, may_prompt=False) == token
    except KeyringUnavailable as error:
        return failed(error.message)
    finally:
        await own.forget(name)
    if not is_back:
        return failed(message("The keyring did not give back what was stored in it. Log in again, and try once more."))
    last = Credentials(environ={}, time_limit=_KEYRING_SECONDS)
    if await last.token(name, check=Token, may_prompt=False) is not None:
        return failed(message("The keyring kept an entry that was deleted: “{name}”.", name=name))
    return ok(message("An entry was stored, read back and deleted."))


def _certificates() -> Finding:
    context = system_certificates()
    # Some contexts are filled when a connection is made; this makes one that is connected with nothing.
    context.wrap_bio(ssl.MemoryBIO(), ssl.MemoryBIO(), server_hostname="example.com")
    if sys.platform in ("win32", "darwin"):
        return ok(message("The system itself is asked about each certificate."))
    filled: ssl.SSLContext = getattr(context, "_ctx", context)  # truststore's own does not tell what is in it
    count = filled.cert_store_stats()["x509_ca"]
    folder = ssl.get_default_verify_paths().capath
    if count == 0 and folder and any(Path(folder).iterdir()):
        return ok(message("Certificates are looked up in {folder} when they are needed.", folder=folder))
    if count == 0:
        return failed(
            message(
                "This system has no certificates, so no connection to Cloudflare can be checked. {way_out}",
                way_out=way_to_certificates(this_distribution()),
            )
        )
    return ok(
        counted_message(
            count, "{n} certificate of this system can be read.", "{n} certificates of this system can be read."
        )
    )
