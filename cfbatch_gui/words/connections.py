"""What both faces say of connections: the rows of each kind, where a secret is, and what a test has found."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from cfbatch_gui.core.connections.address_book import ConnectionSummary
from cfbatch_gui.core.connections.credentials import CLOUDFLARE, SHUT, KeyringState, SecretState, TokenSource
from cfbatch_gui.core.errors import KeyringUnavailable
from cfbatch_gui.core.system.settings import SavedConnection
from cfbatch_gui.core.workers_ai.api_tokens import check_form, check_secret
from cfbatch_gui.core.workers_ai.checking import CheckResult, has_failed, has_passed
from cfbatch_gui.core.workers_ai.connection_kinds import PRACTICE, clean_account_id, connection_of
from cfbatch_gui.words.figures import told, worded
from cfbatch_gui.words.languages import said, tr
from cfbatch_gui.words.states import Role, StateWords

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
_SOME_ACCOUNT = "0" * 32  # a stand-in while only the form of another field is checked

Kind = Literal["cloudflare", "worker", "gateway"]
KINDS: tuple[Kind, ...] = ("cloudflare", "worker", "gateway")
Form = Literal["line", "secret", "tick", "days"]


@dataclass(frozen=True, slots=True)
class Row:
    """What is entered of a connection: a field of `SavedConnection` by its `name`, or "secret" or "gateway_secret".

    `missing` is said where a needed one is empty. `check` raises a UserError for what cannot be saved; text that it
    gives back replaces what was typed. `link` is words and a page, "" for the guide to a Worker. The row is there only
    while the tick `under` is set.
    """

    name: str
    label: str
    form: Form = "line"
    help: str = ""
    placeholder: str = ""
    missing: str = ""
    check: Callable[[str], object] = str
    link: tuple[str, str] = ("", "")
    under: str = ""


@dataclass(frozen=True, slots=True)
class KindWords:
    """`title` is that of the kind, and `name` what a first connection is called; `privacy` says what leads where."""

    title: str
    name: str
    icon: str
    sentence: str
    privacy: str = ""
    rows: tuple[Row, ...] = ()


def account_row() -> Row:
    return Row(
        "account_id",
        tr("Account ID"),
        help=tr("Paste the ID, or the address of any page of your Cloudflare dashboard."),
        placeholder=tr("32 characters, 0–9 and a–f"),
        missing=tr("Enter your account ID."),
        check=clean_account_id,
        link=(tr("Find my account ID"), ACCOUNT_PAGE),
    )


def token_row() -> Row:
    return Row(
        "secret",
        tr("API token"),
        "secret",
        placeholder=tr("Paste the token"),
        missing=told("there_is_no_api_token_yet"),
        check=check_form,
        link=(tr("Create a token"), TOKEN_PAGE),
    )


def kind_words(kind: Kind, connection_id: str = "") -> KindWords:
    if connection_id == PRACTICE.id:
        about = tr(
            "On this computer. Costs nothing, nothing leaves this machine. Scores come from a small local model, so"
            " they are for trying things out."
        )
        return KindWords(said(PRACTICE.title), "", "flask-conical", about)
    if kind == "worker":
        return KindWords(
            tr("Your own Worker"),
            tr("My Worker"),
            "layers",
            tr("A Worker of your own in front of Workers AI: the token stays at Cloudflare, you keep a secret."),
            tr("The secret is sent to your Worker alone; texts go to it and to Workers AI, only when you press send."),
            _worker_rows(),
        )
    if kind == "gateway":
        sentence = tr(
            "Your account through an AI Gateway, for its logs and limits. Cloudflare does not say that batches go"
            " through a gateway; try a small job first."
        )
        privacy = tr(
            "Tokens and texts go to Cloudflare alone. Each call asks the gateway to keep no texts in its logs, to"
            " answer nothing from its cache, and to repeat nothing by itself."
        )
        name = tr("AI Gateway")
        return KindWords(name, name, "link", sentence, privacy, _gateway_rows())
    return KindWords(
        tr("Cloudflare account"),
        "Cloudflare",
        "cloud",
        tr("Your own account, at Cloudflare’s prices. There is a free allowance every day.")
        if connection_id == CLOUDFLARE
        else tr("Another account, at Cloudflare’s prices."),
        tr("The token is sent to Cloudflare alone; texts too, and only when you press send."),
        (account_row(), token_row()),
    )


def _worker_rows() -> tuple[Row, ...]:
    plan = tr(
        "On the Free plan a Worker has 10 ms for each batch, so batches are kept under 1 MB. On the Paid plan they may"
        " have 10 MB."
    )
    collecting = tr(
        "Your account asks for the answers and keeps them until they are fetched, so this computer may be off. The"
        " Worker needs its collecting room and storage (R2)."
    )
    days = tr("Days that answers stay in your account once they are here")
    return (
        Row(
            "url",
            tr("Address"),
            help=tr("It ends in workers.dev, or is a domain of your own."),
            placeholder="https://batch.example.workers.dev",
            missing=tr("Enter the Worker’s address."),
            check=lambda text: connection_of(SavedConnection("", "", "worker", url=text)),
            link=(tr("Save the Worker…"), ""),
        ),
        Row("secret", tr("Secret"), "secret", placeholder=tr("The Worker’s SHARED_SECRET"), check=check_secret),
        Row("paid_plan", tr("It is on the Workers Paid plan"), "tick", plan),
        Row("collects", tr("Collect answers in my account"), "tick", collecting),
        Row("keep_days", days, "days", under="collects"),
    )


def _gateway_rows() -> tuple[Row, ...]:
    return (
        account_row(),
        Row(
            "gateway",
            tr("Gateway ID"),
            help=tr("Or paste the gateway’s whole address."),
            placeholder=tr("Its name in the dashboard"),
            missing=tr("Enter the gateway’s ID."),
            check=lambda text: connection_of(
                SavedConnection("", "", "gateway", account_id=_SOME_ACCOUNT, gateway=text)
            ),
            link=(tr("Find my gateway"), GATEWAY_PAGE),
        ),
        token_row(),
        Row(
            "gateway_secret",
            tr("Gateway token"),
            "secret",
            placeholder=tr("Only for an authenticated gateway"),
            check=check_secret,
        ),
        Row("by_header", tr("Use Cloudflare’s address with a header"), "tick"),
    )


def keyring_words(state: KeyringState) -> str:
    """Why a keyring does not say whether it holds a secret."""
    if state is KeyringState.BROKEN:
        return tr("Your keyring cannot be used")
    return tr("Your keyring is locked") if state in SHUT else tr("Your keyring does not answer")


def secret_words(state: SecretState | None) -> tuple[str, str, Role]:
    """Where a secret is, "" where there is none, what there is to know of it, and the colour of that.

    None while the keyring is asked for the first time.
    """
    if state is None:
        return tr("Checking the keyring…"), "", "small"
    error = said(state.error.message) if state.error is not None else ""
    if state.is_fixed:
        fixed = worded("Set by {variable}; change it there.", variable=state.variable)
        return tr("From an environment variable"), error or fixed, "error" if error else "small"
    if isinstance(state.error, KeyringUnavailable):
        return keyring_words(state.keyring), error, "attention"
    if error:
        return tr("What is saved cannot be used"), error, "error"
    if state.source is TokenSource.KEYRING:
        words = tr("It is not shown again. What you enter here takes its place.")
        return tr("Saved in this computer’s keyring"), words, "small"
    where = tr("Kept in memory") if state.source is TokenSource.SESSION else ""
    if where or state.keyring is KeyringState.ABSENT:
        words = tr("No keyring takes it: it is kept until the program ends. To keep it outside, set {variable}.")
        return where, words.format(variable=state.variable), "attention"
    return "", tr("Goes into this computer’s keyring, if there is one, and is never shown again."), "small"


def connection_facts(
    summary: ConnectionSummary, record: SavedConnection | None, *, is_used: bool
) -> list[tuple[str, str]]:
    """Labels and values; there is no record of the practice service."""
    return [
        (tr("ID"), summary.id),
        (tr("Name"), said(summary.title)),
        (tr("Kind"), summary.kind),
        (tr("State"), tr("ready") if summary.is_ready else tr("not ready")),
        (tr("New jobs"), tr("default", "connection") if is_used else ""),
        (tr("Collects answers"), tr("yes") if record is not None and record.collects else ""),
        ("", said(summary.sentence)),
    ]


def tested_words(results: Sequence[CheckResult], *, is_ready: bool) -> StateWords:
    """How a connection stands, by its last test if there was one."""
    if not is_ready:
        return StateWords(tr("Not connected yet"), "circle-dashed", "quiet")
    if not results:
        return StateWords(tr("Set up, not tested yet"), "circle-dot", "quiet")
    if has_failed(results):
        return StateWords(tr("The test failed"), "circle-x", "error")
    if not has_passed(results):
        return StateWords(tr("The test was cut short"), "triangle-alert", "attention")
    return StateWords(tr("Connected"), "circle-check", "done")


def answer_words(results: Sequence[CheckResult], number: int) -> StateWords:
    """The answer to a question of a test; a Worker may not have been asked the last one."""
    if not results:
        return StateWords(tr("Not tested yet"), "circle-dashed", "quiet")
    result = results[number] if number < len(results) else None
    was_asked = result is not None and (not result.is_needed or all(each.ok for each in results[:number]))
    if result is None or (result.ok is None and not was_asked):
        return StateWords(tr("Not asked"), "circle-dashed", "quiet")
    if result.ok:
        return StateWords(tr("Yes"), "circle-check", "done")
    if result.ok is None:
        return StateWords(tr("Not certain"), "triangle-alert", "attention")
    if result.is_needed:
        return StateWords(tr("No"), "circle-x", "error")
    return StateWords(tr("No"), "triangle-alert", "attention")
