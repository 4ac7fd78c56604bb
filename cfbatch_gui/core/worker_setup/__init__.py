"""The user's Worker, put into their account by Cloudflare's API, and taken away again.

account         every call as a value, made with a token that is used once, and what a refusal of it means
worker_files    the script and its bindings as one upload, and as files for the user's own deployment
worker_setup    the order of the calls; what is there already is kept, and taking all of it away
"""
