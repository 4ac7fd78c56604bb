"""Cloudflare's Workers AI as a client sees it.

requests, answers   bytes ↔ values, nothing else
limits              every limit of the service, with its source and date, and the budget of calls
catalogue           models with their limits and prices, as listed on a date; model_listing: the service's own list
estimate            tokens and bytes before anything is sent
connection_kinds    how the service is reached, as values
api_tokens          secrets as values, and what a pasted text says about a connection
transport           bytes over HTTP; traffic: the log of what left this computer
refusals            every refusal as a row of a table: the sentence for the user and what can be done
client              the addresses, the calls, and what each exchange means; those that may be repeated
checking            the free test of a connection
collector           the collecting room of the user's own Worker
probe               every assumption about the live service, and the paid check that says which of them hold
"""

import sys
from typing import Any, cast

# httpx loads its own command line, and with it click, pygments and rich, wherever these are installed.
sys.modules.setdefault("httpx._main", cast(Any, None))
