"""The one secret of the whole test suite: whatever needs a token takes one of these.

All of them hold `CORE`, which must be nowhere at the end of a session: `tests/canary_plugin.py` sees to it.
"""

CORE = "Qx7Canary4Zv9Lm2Rt8Kw5Hd"
TOKEN = f"cfut_0Ab1{CORE}3Ef6Gh9Ij2Kla1b2c3d4"  # the form of a user's token
OTHER_TOKEN = f"cfat_9Zy8{CORE}7Xw6Vu5Ts4Rqf1e2d3c4"  # of an account's; for one that is wrong, or comes later
SECRET = f"a-made-up-{CORE}-secret"  # of a Worker or a gateway: no form, so nothing can black it out by its looks
OLD_TOKEN = f"Abc-_def{CORE}_uv-WXyz"  # 40 characters without a mark

# Where a token stands on purpose: the place as the search names it (* for any text), and why that is right.
ON_PURPOSE = {
    "file test_a_leak_*": "tests/test_canary.py shows that the search finds what it should",
    "output of tests/ui/test_failures_shown.py::*": "puts a token into an exception, and pytest logs it as it is",
    "output of tests/core/test_logs.py::*": "logs tokens, to read in the log file that they are blacked out there",
}
