"""The user's Worker, put into their account by Cloudflare's API, and taken away again.

account_calls    every call as a value: what it does, its method, its address, the permission it needs
worker_files     the script and its bindings as one upload
refusals         what a refusal of each call means, and what the user can do
account          the calls, made with a token that is used once
setting_up       their order; what is there already is kept
removing         the same for taking all of it away
worker_setup     both for the faces, with the connection in the program
"""
