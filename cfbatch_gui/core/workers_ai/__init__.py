"""Cloudflare's Workers AI: what is said to it, what it answers, what it refuses, what it costs.

wire/         bytes ↔ values, nothing else: requests, envelope, replies
refusals      every refusal as a row of a table: the user's sentence and what can be done
catalogue     models with their limits and prices, as listed on a date
estimate      tokens, prices and sizes, before anything is sent
connections   how the service is reached, as values
endpoints/        what each kind of connection says and how it answers: REST, Worker, gateway
pasted        what a pasted text says about a connection
checking      the free test of a connection
listing       the service's own list of models
client        the calls, and what each exchange means
transport     bytes over HTTP
traffic       what left this computer
budget        how often the service may be asked
own_worker    the Worker that users put into their accounts
"""
