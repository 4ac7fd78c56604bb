"""A program that has nothing of this computer's: no variable of the environment, no keyring."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from cfbatch_gui.core.connections.credentials import Credentials
from cfbatch_gui.core.program import Program


@asynccontextmanager
async def opened_program(root: Path) -> AsyncIterator[Program]:
    program = await Program.open(root, environ={}, credentials=Credentials(environ={}))
    try:
        yield program
    finally:
        await program.close()
