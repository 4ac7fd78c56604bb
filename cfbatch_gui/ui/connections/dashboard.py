"""The addresses of Cloudflare's dashboard that the connection page links to; a click opens them in the browser."""

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices

# With "Workers AI Read" and "Workers AI Edit" filled in. Source:
# https://developers.cloudflare.com/fundamentals/api/how-to/account-owned-token-template/
TOKEN_PAGE = (
    "https://dash.cloudflare.com/profile/api-tokens?permissionGroupKeys="  # noqa: S105 - an address, no secret
    "%5B%7B%22key%22%3A%22ai%22%2C%22type%22%3A%22read%22%7D%2C%7B%22key%22%3A%22ai%22%2C%22type%22%3A%22edit%22%7D%5D"
    "&accountId=%2A&zoneId=all&name=Batch%20client"
)
# Leads to Workers AI of the account that is chosen there; "Use REST API" shows its id.
ACCOUNT_PAGE = "https://dash.cloudflare.com/?to=/:account/ai/workers-ai"

GATEWAY_PAGE = "https://dash.cloudflare.com/?to=/:account/ai/ai-gateway"
STORAGE_PAGE = "https://dash.cloudflare.com/?to=/:account/r2/overview"
WORKERS_PAGE = "https://dash.cloudflare.com/?to=/:account/workers-and-pages"


def open_in_browser(address: str) -> bool:
    """Open an address in the browser; False where there is none."""
    return QDesktopServices.openUrl(url_of(address))


def url_of(address: str) -> QUrl:
    """The address as a QUrl, with its percent-encoding kept as it is."""
    return QUrl.fromEncoded(address.encode(), QUrl.ParsingMode.StrictMode)
