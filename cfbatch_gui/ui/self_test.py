"""`cfbatch-gui --self-test`: a line for each thing that the program needs, whether it is there and what to do if not.

What a check needs is imported when it is its turn, so that a missing part of the installation is one failed check.
"""

import asyncio
import importlib
import io
import os
import pkgutil
import platform
import secrets
import signal
import ssl
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TextIO

import cfbatch_gui
from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.messages import comma_list, cut_list, literal, message
from cfbatch_gui.core.resources import resource
from cfbatch_gui.core.system.logs import redacted
from cfbatch_gui.core.system.paths import Paths
from cfbatch_gui.without_window import lacking, missing_sentence, watch_qt
from cfbatch_gui.words.languages import languages, said

if TYPE_CHECKING:
    from cfbatch_gui.core.inputs.input_values import Kind
    from cfbatch_gui.core.jobs.states import Job

SECONDS = 120.0  # for each check
_NAMED = 5  # missing files; of more, how many
_KEYRING_SECONDS = 10.0  # for each question to the keyring
_TITLE = 26  # characters of the widest title, in any language


class Outcome(StrEnum):
    OK = message("ok")
    WARNING = message("warning")  # the program works, but not for everybody: a script without a font
    SKIPPED = message("skipped")  # it could not be tried here, for a reason that is no fault of the program's
    FAILED = message("failed")


class _Warning(UserError):
    """Ends a check of what not everybody needs."""


class _Skipped(UserError):
    """Ends a check that cannot be tried here."""


_OUTCOMES: dict[type[BaseException], Outcome] = {_Warning: Outcome.WARNING, _Skipped: Outcome.SKIPPED}


class SelfTest:
    """Writes each line as soon as it is known, so that a program that dies has said what it did before."""

    def __init__(self, *streams: TextIO) -> None:
        self._streams = streams
        self._outcomes: Counter[Outcome] = Counter()
        self._word = max(len(said(literal(outcome))) for outcome in Outcome)

    def run(self, checks: Mapping[str, Callable[[], str]]) -> int:
        """The exit status. A check returns what it found; what it raises is a failure. One that hangs ends all."""
        for title, look in checks.items():
            late = message("did_not_end_within_n_seconds", n=SECONDS)
            watch = threading.Timer(SECONDS, self.give_up, (title, late))
            watch.daemon = True
            watch.start()
            try:
                self._add(title, Outcome.OK, look())
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # noqa: BLE001 # also the panics of libraries; the other checks go on
                self._add(title, _OUTCOMES.get(type(error), Outcome.FAILED), _words_of(error))
            finally:
                watch.cancel()
        return self._end()

    def give_up(self, title: str, reason: str) -> NoReturn:
        """End the process during a check that can say nothing itself any more."""
        self._add(title, Outcome.FAILED, reason)
        os._exit(self._end())

    def _add(self, title: str, outcome: Outcome, sentence: str) -> None:
        self._outcomes[outcome] += 1
        words = " ".join(said(sentence).split())
        self._write(f"{said(literal(outcome)):<{self._word}}  {said(title):<{_TITLE}}  {words}")

    def _write(self, line: str) -> None:
        for stream in self._streams:
            with suppress(OSError):  # nobody reads it any more, or the disk is full; the status still says it
                stream.write(f"{line}\n")
                stream.flush()

    def _end(self) -> int:
        count, bad = self._outcomes.total(), self._outcomes[Outcome.FAILED]
        self._write(said(message("n_checks_bad_failed", n=count, bad=bad)))
        return 1 if bad else 0


def _words_of(error: BaseException) -> str:
    """What was raised, without secrets."""
    if missing := lacking(error):
        return missing_sentence(missing)
    if not isinstance(error, UserError):
        return message("kind_text", kind=type(error).__name__, text=redacted(str(error)))
    if not error.detail:
        return error.message
    return message("sentence_detail", sentence=error.message, detail=redacted(error.detail))


def run_self_test(*, has_screen: bool, out: Path | None = None) -> NoReturn:
    """Print a line for each check, also into the file `out`, and end the process, with status 1 when one failed."""
    if isinstance(sys.stdout, io.TextIOWrapper):  # None for a program of Windows without a console
        sys.stdout.reconfigure(errors="replace")
    test = SelfTest(*filter(None, (sys.stdout, out and out.open("w", encoding="utf-8"))))
    if not has_screen:
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
    window = message("window")
    checks: dict[str, Callable[[], str]] = {
        message("version"): _version,
        message("keyring"): lambda: asyncio.run(_keyring()),
        message("certificates_tls"): _certificates,
        message("files_program"): _files_of_program,
        message("practice_model"): _practice_model,
        message("ranking"): lambda: _practice_job("rank", "help-centre-ranking.csv", "how do I pay,,A-9999,0"),
        message("vectors"): lambda: _practice_job("embed", "product-texts.csv", "9999,,Kitchen"),
        window: lambda: _window(partial(test.give_up, window)),
        message("parts_program"): _modules,
        message("pictures"): _pictures_and_words,
        message("fonts"): _fonts,
    }
    try:
        os._exit(test.run(checks))
    except KeyboardInterrupt:
        os._exit(128 + signal.SIGINT)


def _version() -> str:
    place = Path(sys.executable if getattr(sys, "frozen", False) else cfbatch_gui.__file__).parent
    python, system = platform.python_version(), platform.platform()
    return f"CF Batch {cfbatch_gui.__version__}, Python {python}, {system}; {place}"


async def _keyring() -> str:
    """Store, read back and delete an entry under a name of its own. Its user is never asked for a password."""
    from cfbatch_gui.core.connections.credentials import Credentials, Lock, TokenSource, has_part_for
    from cfbatch_gui.core.workers_ai.api_tokens import Token

    if not has_part_for(sys.platform):
        raise UserError(message("part_keyring_system_is_missing_installation"))
    own, other = [Credentials(environ={}, time_limit=_KEYRING_SECONDS) for _ in range(2)]
    lock = None
    with suppress(Exception):  # backends raise whatever their system raises
        lock = await asyncio.wait_for(own.lock(), _KEYRING_SECONDS)
    if lock is not Lock.OPEN:
        raise _Skipped(message("there_is_no_open_keyring_here"))
    name, token = f"self-test-{secrets.token_hex(8)}", Token(f"not-a-token-{secrets.token_hex(16)}")
    try:
        source = await own.save(name, token)
        is_back = source is TokenSource.KEYRING and await other.token(name, check=Token, may_prompt=False) == token
    finally:
        await own.forget(name)
    if not is_back:
        raise UserError(message("keyring_did_not_give_back_what"))
    return message("entry_was_stored_read_back_deleted")


def _certificates() -> str:
    from cfbatch_gui.core.workers_ai.transport import system_certificates

    context = system_certificates()
    # Some contexts are filled when a connection is made; this makes one that is connected with nothing.
    context.wrap_bio(ssl.MemoryBIO(), ssl.MemoryBIO(), server_hostname="example.com")
    if sys.platform not in ("win32", "darwin"):  # where the system itself is asked about each certificate
        filled: ssl.SSLContext = getattr(context, "_ctx", context)  # truststore's own does not tell what is in it
        folder = Path(ssl.get_default_verify_paths().capath or os.devnull)
        if not filled.cert_store_stats()["x509_ca"] and not (folder.is_dir() and any(folder.iterdir())):
            raise UserError(message("system_no_certificates_install_package_ca"))
    return message("connections_are_checked_certificates_system")


def _files_of_program() -> str:
    contents = resource("contents.txt")  # the names of all files beside it, one a line
    names = contents.read_text("utf-8").split()
    paths = {name: contents.parent / name for name in names}
    if bad := [name for name, path in paths.items() if not path.is_file() or not path.stat().st_size]:
        named = cut_list(bad[:_NAMED], len(bad) - _NAMED)
        raise UserError(message("install_cf_batch_again_these_files", files=named))
    return message("n_files_are_there_whole", n=len(names))


def _practice_model() -> str:
    from cfbatch_gui.core.practice.local_models import HashedNgrams, choose_model

    model = choose_model()
    if isinstance(model, HashedNgrams):
        command = "pip install 'cfbatch-gui[practice]'"
        raise _Skipped(message("letters_are_compared_instead_language_model", command=command))
    return message("name_on_computer", name=model.name)


def _practice_job(kind: str, example: str, more: str) -> str:
    """One job through the practice service, and all of its exports; files of a ranking are read again.

    `more` is a row without a text, so that there is a failed row to export. The user's data folder is never opened.
    """
    from cfbatch_gui.core.inputs.file_rows import preview
    from cfbatch_gui.core.inputs.input_values import Kind
    from cfbatch_gui.core.inputs.recognise.recogniser import open_source
    from cfbatch_gui.core.job_folder.folder import JobFolder
    from cfbatch_gui.core.results.exports import export, targets_for

    with tempfile.TemporaryDirectory(prefix="cfbatch-self-test-", ignore_cleanup_errors=True) as name:
        root = Path(name)
        path, exports = root / example, root / "exports"
        path.write_bytes(resource(f"examples/{example}").read_bytes() + f"{more}\n".encode())
        job = asyncio.run(_sent(Kind(kind), path))
        folder, absent = JobFolder(Paths(root).job(job.id)), []
        targets = targets_for(job.kind)
        for target in targets:
            file = exports / target.name / f"{kind}{''.join(target.suffixes[:1])}"
            file.parent.mkdir(parents=True)
            try:
                export(folder, job, file, target)
            except UserError as error:
                if not isinstance(error.__cause__, ImportError):
                    raise
                absent.append(target.title)
        for file in (*exports.rglob("rank.xlsx"), *exports.rglob("rank.parquet")):  # by a second process of the program
            cells = [row.cells for row in preview(open_source(file))]
            if not cells or not all(map(any, cells)):
                raise UserError(message("name_was_read_something_else_than", name=file.name))
    forms = len(targets) - len(absent)
    sentence = message("texts_texts_came_back_were_exported", texts=job.texts, forms=forms)
    if absent:
        about = {"names": comma_list(absent), "command": "pip install 'cfbatch-gui[parquet]'"}
        raise _Skipped(message("sentence_not_installed_not_tried_names", sentence=sentence, **about))
    return sentence


async def _sent(kind: "Kind", path: Path) -> "Job":
    from cfbatch_gui.core.connections.credentials import Credentials
    from cfbatch_gui.core.inputs.file_rows import preview
    from cfbatch_gui.core.inputs.recognise.recogniser import open_source
    from cfbatch_gui.core.inputs.suggest import suggest_mapping
    from cfbatch_gui.core.jobs.states import JobState
    from cfbatch_gui.core.program import Program
    from cfbatch_gui.core.workers_ai.connection_kinds import PRACTICE

    # Nothing of the user's environment: no token, no proxy, no folder.
    environ = dict.fromkeys(("HOME", "APPDATA", "XDG_STATE_HOME"), str(path.parent))
    credentials = Credentials(environ={})
    program = await Program.open(
        path.parent, environ=environ, credentials=credentials, practice_times=(0.0, 0.0), patience=3
    )
    try:
        source = open_source(path)
        job = program.drafts.create(kind, "self-test", program.settings.model, PRACTICE.id)
        program.drafts.load(job.id, source, suggest_mapping(source, kind, preview(source)))
        await program.actions.send(job.id)
        job = await program.runner.wait(job.id)
    finally:
        await program.close()
    if job.state is not JobState.DONE:
        raise UserError(message("practice_job_ended_state_error", state=job.state, error=job.error))
    return job


def _window(give_up: Callable[[str], NoReturn]) -> str:
    from PySide6.QtCore import qVersion
    from PySide6.QtWidgets import QApplication

    watch_qt(lambda reason: give_up(message("qt_can_show_no_window_here", text=reason)))
    app = QApplication.instance() or QApplication(sys.argv[:1])
    assert isinstance(app, QApplication)  # noqa: S101 # no other was made before
    return message("qt_version_draws_platform", version=qVersion(), platform=app.platformName())


def _modules() -> str:
    names = [each.name for each in pkgutil.walk_packages(cfbatch_gui.__path__, "cfbatch_gui.")]
    faults = []
    for name in names:
        try:
            importlib.import_module(name)
        except ImportError as error:
            faults.append(str(error))
    if faults or not names:
        missing = comma_list(list(dict.fromkeys(faults)))
        raise UserError(message("install_cf_batch_again_parts_cannot", errors=missing))
    return message("n_parts_can_be_loaded", n=len(names))


def _pictures_and_words() -> str:
    """What Qt reads by plugins and files that a package may have left out."""
    from PySide6.QtCore import QLibraryInfo
    from PySide6.QtGui import QImageReader

    pictures = (resource("cfbatch.svg"), *resource("icons").glob("*.svg"), *resource("help/pictures").rglob("*.png"))
    if bad := [path.name for path in pictures if QImageReader(str(path)).read().isNull()]:
        raise UserError(message("picture_name_cannot_be_drawn", name=comma_list(sorted(bad))))
    folder = Path(QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath))
    wanted = [f"qtbase_{language.code}.qm" for language in languages()[1:]]
    if missing := [name for name in wanted if not (folder / name).is_file()]:
        raise UserError(message("qt_own_dialogs_stay_english_want", files=comma_list(missing)))
    return message("n_pictures_can_be_drawn", n=len(pictures))


_ALIASES = frozenset({"Monospace", "Sans Serif", "Serif"})  # named by Qt itself on Linux, whatever fonts there are
_SCRIPTS = ("Latin", "Greek", "Cyrillic", "Arabic", "Hebrew", "Devanagari", "Thai", "Japanese", "Korean")


def _fonts() -> str:
    from PySide6.QtGui import QFontDatabase

    database = QFontDatabase
    there = set() if set(database.families()) <= _ALIASES else set(database.writingSystems())
    wanted = [database.WritingSystem[name] for name in (*_SCRIPTS, "SimplifiedChinese")]
    missing = [database.writingSystemName(each) for each in wanted if each not in there]
    if not missing:
        return message("n_scripts_fonts", n=len(wanted))
    words = message("no_font_letters_scripts_boxes_stand", scripts=comma_list(missing))
    raise _Warning(words) if wanted[0] in there else UserError(words)
