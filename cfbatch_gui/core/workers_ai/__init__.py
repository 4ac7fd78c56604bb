"""Cloudflare's Workers AI as a client sees it.

wire/              bytes ↔ values, nothing else: requests, envelope, answers, replies
limits             every limit of the service, with its source and date
catalogue          models with their limits, as listed on a date; model_listing: the service's own list
prices, estimate   neurons and dollars; tokens and bytes before anything is sent
connection_kinds   how the service is reached, as values; endpoints: addresses, headers and answers of each kind
api_tokens, pasted secrets as values; what a pasted text says about a connection
transport          bytes over HTTP; traffic: the log of what left this computer
budget             how many calls may be made
refusals           every refusal as a row of a table: the sentence for the user and what can be done
client             the calls, and what each exchange means; checking: the free test of a connection
repeating          calls that are made again, where that changes nothing
probe              every assumption about the live service, and the paid check that says which of them hold
own_worker         the Worker that users put into their accounts
"""

import sys
from typing import Any, cast

# httpx loads its own command line, and with it click, pygments and rich, wherever these are installed.
sys.modules.setdefault("httpx._main", cast(Any, None))
