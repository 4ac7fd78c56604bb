"""What this program is: its version, its licence and those of the packages in it, and diagnostics to copy."""

import platform
import re
from collections import Counter
from importlib import metadata
from pathlib import Path

import PySide6
from PySide6.QtCore import QLocale, QSize, QSysInfo, QUrl, qVersion
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QDialog, QPlainTextEdit, QWidget

from cfbatch_gui import __version__
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.logs import last_lines, redacted
from cfbatch_gui.core.system.paths import resource
from cfbatch_gui.ui.theme import LARGE, SMALL, TINY, WIDE, scaled
from cfbatch_gui.ui.widgets import Button, Label, LinkButton, column, row

RELEASES = "https://github.com/cfbatch/CFBatch/releases"  # read by the user's browser alone
_LOG_LINES = 60
_ID = re.compile(r"\b[0-9a-f]{32}\b")  # of an account
PACKAGES = (
    *("PySide6-Essentials", "shiboken6", "qasync", "httpx", "httpcore", "h11", "anyio", "keyring", "jeepney"),
    *("SecretStorage", "cryptography", "msgspec", "numpy", "truststore", "python-calamine", "xlsxwriter", "uvicorn"),
    *("chardet", "wcwidth", "wordllama", "arro3-core", "arro3-io"),
)


class AboutDialog(QDialog):
    """Open it with `open()`; it deletes itself when it is closed."""

    def __init__(self, program: Program, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("About CF Batch"))
        self._program = program
        self.licences = QPlainTextEdit(licence_text())
        self.licences.setReadOnly(True)
        self.licences.setTabChangesFocus(True)
        self.licences.setAccessibleName(self.tr("Licences"))
        self.copy_button = Button(self.tr("Copy diagnostics"), "copy")
        self.copy_button.setToolTip(
            self.tr("Versions, numbers of jobs and the end of the log, without texts or tokens")
        )
        self.copy_button.clicked.connect(self._copy)
        self._copied = Label("", "small")
        self.news_button = LinkButton(self.tr("What is new"), "external-link")
        self.news_button.setToolTip(
            self.tr("Opens the list of versions in your browser. The program itself never looks for a new one.")
        )
        self.news_button.clicked.connect(_open_releases)
        close = Button(self.tr("Close"))
        close.setFocus()
        close.clicked.connect(self.accept)
        self.setLayout(
            column(
                Label(self.tr("CF Batch"), "title"),
                row(Label(self.tr("Version {version}").format(version=__version__), "quiet"), self.news_button, None),
                Label(
                    self.tr(
                        "Ranks texts by meaning and turns them into vectors, with Cloudflare’s Workers AI Batch API."
                        " It is not made by Cloudflare. It is free software under the MIT licence."
                    ),
                    wrap=True,
                ),
                SMALL,
                Label(self.tr("Made with"), "strong"),
                self.licences,
                row(self.copy_button, self._copied, None, close),
                gap=SMALL,
                margins=(WIDE, WIDE - TINY, WIDE, LARGE + TINY),
            )
        )

    def sizeHint(self) -> QSize:
        return QSize(scaled(560), scaled(460))

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(diagnostics(self._program))
        self._copied.setText(self.tr("Copied."))


def _open_releases() -> None:
    QDesktopServices.openUrl(QUrl(RELEASES))


def licence_text() -> str:
    """One line for each package that is installed, with its version and licence; then the licence of the icons."""
    lines = []
    for name in PACKAGES:
        try:
            about = metadata.metadata(name)
        except metadata.PackageNotFoundError:
            continue
        fields = about.json
        licence = str(fields.get("license_expression") or fields.get("license") or _classified(about))
        lines.append(f"{about['Name']} {about['Version']} · {licence.splitlines()[0] if licence else '–'}")
    icons = resource("icons/LICENSE").read_text("utf-8").strip()
    return "\n".join(lines) + f"\n\nLucide icons\n{icons}\n"


def _classified(about: "metadata.PackageMetadata") -> str:
    found = [each for each in about.get_all("Classifier") or () if each.startswith("License ::")]
    return found[0].rpartition(" :: ")[2] if found else ""


def diagnostics(program: Program) -> str:
    """What somebody who is to find a fault asks for first; no texts, names of jobs, account IDs or tokens."""
    screen = QGuiApplication.primaryScreen()
    size = screen.size()
    states = Counter(str(job.state) for job in program.ledger.jobs())
    kinds = Counter(each.kind for each in program.settings.connections)
    lines = [
        f"CF Batch {__version__} · Python {platform.python_version()} · Qt {qVersion()} · PySide {PySide6.__version__}",
        f"{QSysInfo.prettyProductName()} · {platform.platform()} · {QGuiApplication.platformName()}",
        f"Screen {size.width()}×{size.height()} at {screen.devicePixelRatio():g} · language {QLocale().name()}",
        "Jobs: " + (", ".join(f"{count} {state}" for state, count in sorted(states.items())) or "none"),
        "Connections: " + (", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())) or "none"),
        "",
        *last_lines(program.paths, _LOG_LINES),
    ]
    text = _ID.sub("[id]", redacted("\n".join(lines)))
    return text.replace(str(Path.home()), "~")
