"""For every test: the search for tokens, and Ctrl+C as a terminal has it."""

import signal

from hypothesis import settings

pytest_plugins = ["tests.canary_plugin"]

# A deadline per example would be an assertion on time.
settings.register_profile("short", deadline=None, max_examples=30, derandomize=True)  # the same ones each time
settings.register_profile("thorough", deadline=None)  # tests/thorough.py
settings.load_profile("short")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # As in the background of a shell without jobs; every program that a test starts and interrupts would be deaf too.
    signal.signal(signal.SIGINT, signal.default_int_handler)
