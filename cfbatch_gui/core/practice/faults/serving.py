"""The faulty service as a command: until Ctrl+C, on a port of this computer."""

import asyncio
import ssl
from collections.abc import Callable, Sequence
from pathlib import Path

from cfbatch_gui.core.errors import InputError, UsageError
from cfbatch_gui.core.practice.app import Application
from cfbatch_gui.core.practice.faults.faulty_service import Arrival, FaultyService
from cfbatch_gui.core.practice.faults.script import AnyFault


def serve(
    application: Application,
    faults: Sequence[AnyFault],
    port: int,
    *,
    tls: ssl.SSLContext | None = None,
    listening: Callable[[str], None] | None = None,
    tell: Callable[[Arrival], None] | None = None,
) -> None:
    """Serve on 127.0.0.1 until Ctrl+C, which arrives as KeyboardInterrupt once everything is closed.

    `port` 0 takes a free one. `listening` is told the address, prefix included, before the first request; `tell` gets
    every exchange. Raises UsageError when the port cannot be had. Prints nothing.
    """
    faulty = FaultyService(application, faults, port=port, tls=tls, tell=tell)
    asyncio.run(_serve(faulty, port, listening))


async def _serve(faulty: FaultyService, port: int, listening: Callable[[str], None] | None) -> None:
    try:
        await faulty.__aenter__()
    except OSError as problem:
        raise UsageError(
            f"Port {port} on this computer cannot be used. Another program may be listening there; choose another"
            " port, or 0 for any free one.",
            detail=str(problem.strerror),
        ) from problem
    try:
        if listening is not None:
            listening(faulty.url)
        await asyncio.Event().wait()
    finally:
        await faulty.__aexit__()


def load_certificate(path: Path) -> ssl.SSLContext:
    """TLS with the certificate and the private key in one PEM file. Raises InputError."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(path)
    except (OSError, ValueError) as problem:  # ssl.SSLError is an OSError
        raise InputError(
            f"“{path.name}” holds no certificate with its private key, in PEM form and without a password.",
            detail=str(problem),
        ) from problem
    return context
