"""Importing what a page needs without holding up the window."""

import asyncio
import sys
from importlib import import_module


async def imported(*modules: str) -> None:
    """Import modules in a thread: what they import in turn takes longer than a window may stand still."""
    for module in modules:
        if module not in sys.modules:
            await asyncio.to_thread(import_module, module)
