from keyring.backend import KeyringBackend
from keyring.errors import PasswordDeleteError


class MemoryKeyring(KeyringBackend):
    """A keyring that works, as a desktop has one; it counts how often it is written."""

    priority = 1

    def __init__(self) -> None:
        self.stored: dict[tuple[str, str], str] = {}
        self.writes = 0

    def get_password(self, service: str, username: str) -> str | None:
        return self.stored.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.writes += 1
        self.stored[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        if self.stored.pop((service, username), None) is None:
            raise PasswordDeleteError
