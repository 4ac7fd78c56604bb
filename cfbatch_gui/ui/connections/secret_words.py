"""What is said about a secret: an API token, what a Worker asks for, what a gateway asks for beside the token."""

from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication


@dataclass(frozen=True, slots=True)
class SecretWords:
    """Sentences for the places that a secret can be in, and names for what can be done with it."""

    title: str
    placeholder: str
    in_keyring: str
    in_memory: str
    in_environment: str
    unusable: str
    replace: str
    remove: str
    keep: str
    show: str
    hide: str


def token_words() -> SecretWords:
    """Of the account that the environment may speak of."""
    return SecretWords(
        title=_tr("API token"),
        placeholder=_tr("Paste the token"),
        in_keyring=_tr("A token is saved in this computer’s keyring"),
        in_memory=_tr("A token is kept in memory"),
        in_environment=_tr("The token comes from the environment"),
        unusable=_tr("The saved token cannot be used"),
        replace=_tr("Replace the token…"),
        remove=_tr("Remove the token…"),
        keep=_tr("Keep the saved token"),
        show=_tr("Show the token"),
        hide=_tr("Hide the token"),
    )


def worker_secret_words() -> SecretWords:
    """Of a Worker."""
    return SecretWords(
        title=_tr("Secret"),
        placeholder=_tr("The Worker’s SHARED_SECRET"),
        in_keyring=_tr("A secret is saved in this computer’s keyring"),
        in_memory=_tr("A secret is kept in memory"),
        in_environment=_tr("The secret comes from the environment"),
        unusable=_tr("The saved secret cannot be used"),
        replace=_tr("Replace the secret…"),
        remove=_tr("Remove the secret…"),
        keep=_tr("Keep the saved secret"),
        show=_tr("Show the secret"),
        hide=_tr("Hide the secret"),
    )


def gateway_token_words() -> SecretWords:
    """Of a gateway that lets in only who has a token for it."""
    return SecretWords(
        title=_tr("Gateway token, if it asks for one"),
        placeholder=_tr("Only for an authenticated gateway"),
        in_keyring=_tr("A gateway token is saved in this computer’s keyring"),
        in_memory=_tr("A gateway token is kept in memory"),
        in_environment=_tr("The gateway token comes from the environment"),
        unusable=_tr("The saved gateway token cannot be used"),
        replace=_tr("Replace the gateway token…"),
        remove=_tr("Remove the gateway token…"),
        keep=_tr("Keep the saved gateway token"),
        show=_tr("Show the gateway token"),
        hide=_tr("Hide the gateway token"),
    )


def _tr(text: str) -> str:
    return QCoreApplication.translate("connections", text)
