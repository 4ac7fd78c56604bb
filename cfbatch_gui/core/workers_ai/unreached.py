"""The sentences for exchanges without an answer of the service. `title` is the connection's."""

from typing import Final

from cfbatch_gui.core.messages import Message, message

NO_CLEAR_ANSWER: Final = message(
    "This batch was sent to {title}, but no clear answer came back. It may have been accepted and billed, so it is not "
    "sent again by itself."
)
BROKEN: Final = message("The connection to {title} broke.")
NOT_REACHED: Final = {  # by the reason of an ExchangeError
    "name": message("{title} could not be found. Check that this computer is connected to the internet."),
    "refused": message("{title} could not be reached. Check that this computer is connected to the internet."),
    "tls": message(
        "The connection to {title} is not trusted by this computer, so nothing was sent. In a company's network, "
        "its own certificate may have to be installed on this computer."
    ),
    "time": message("{title} did not answer in time."),
    "clock": message(
        "The certificate of {title} is not valid at {now}, which is what this computer's clock shows. Nothing was "
        "sent. Set the clock, then try again."
    ),
    "proxy": message(
        "This computer's proxy, {proxy}, does not let the connection to {title} through. Nothing was sent. Check "
        "the system's proxy settings."
    ),
    "proxy_address": message(
        "The address of this computer's proxy cannot be read, so nothing was sent. Check the system's proxy settings."
    ),
    "proxy_kind": message(
        "This computer's proxy, {proxy}, is not an HTTP proxy, so this program cannot use it. Nothing was sent. Set "
        "an HTTP proxy in the system's settings, or none."
    ),
    "mixed": message(
        "The connection to {title} held more than one answer, so none of it was used. Something on the way, such as "
        "a proxy, mixes answers up."
    ),
    "too_large": message("{title} sent far more than an answer can hold, so it was not read."),
}

_OTHER: Final = message(
    "Something other than {title} answered. If this network wants you to sign in first, do so in a browser."
)
_FAULT: Final = message("{title}, or something on the way to it, has a fault just now.")
# With its page 1027: https://developers.cloudflare.com/workers/platform/limits/#daily-requests
_DAY_USED_UP: Final = message(
    "Cloudflare lets no calls through to {title} just now. On the Workers Free plan a Worker may be called 100,000 "
    "times a day, and a day ends at midnight UTC."
)
_SIGN_IN_FIRST: Final = 511  # HTTP's own status for a captive portal


def not_the_service(status: int, *, is_worker: bool) -> Message:
    """The sentence for an answer that is not the service's own, by its HTTP status."""
    if status >= 500 and status != _SIGN_IN_FIRST:
        return _FAULT
    return _DAY_USED_UP if status == 429 and is_worker else _OTHER
