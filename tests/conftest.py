"""For every test: the search for tokens, and Ctrl+C as a terminal has it."""

import signal

from hypothesis import settings

pytest_plugins = ["tests.canary_plugin"]

settings.register_profile("thorough", deadline=None)  # for tests that say themselves how many examples that means

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # As in the background of a shell without jobs; every program that a test starts and interrupts would be deaf too.
    signal.signal(signal.SIGINT, signal.default_int_handler)
