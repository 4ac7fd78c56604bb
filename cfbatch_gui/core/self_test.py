"""The self-test without a window: each check, its line, its time, and what it may find.

What a check needs is imported when it is its turn, so that a missing part of the installation is one failed check.
"""

import asyncio
import platform
import secrets
import ssl
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import cfbatch_gui
from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.messages import comma_list, counted_message, cut_list, message
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.core.system.logs import redacted
from cfbatch_gui.core.system.paths import Paths, resource

if TYPE_CHECKING:
    from cfbatch_gui.core.connections.credentials import Credentials
    from cfbatch_gui.core.inputs.input_values import Kind
    from cfbatch_gui.core.jobs.states import Job

CONTENTS = "contents.txt"  # the names of all files below resources/, one a line
_NAMED = 5  # missing files; of more, how many
_KEYRING_SECONDS = 10.0  # for each question to the keyring
_PRACTICE_SECONDS = 120.0  # for each check of the practice jobs
_TITLE = 26  # characters of the widest title, in any language


class Outcome(StrEnum):
    OK = message("ok")
    WARNING = message("warning")  # the program works, but not for everybody: a script without a font
    SKIPPED = message("skipped")  # it could not be tried here, for a reason that is no fault of the program's
    FAILED = message("failed")


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found, in a sentence; of a failure the reason, and what to do about it."""

    outcome: Outcome
    sentence: str


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the self-test. Whatever `look` raises is a failure, and so is taking longer than `seconds`."""

    title: str
    look: Callable[[], Finding]
    seconds: float = 60.0


ok = partial(Finding, Outcome.OK)
skipped = partial(Finding, Outcome.SKIPPED)
warning = partial(Finding, Outcome.WARNING)
failed = partial(Finding, Outcome.FAILED)


class Report:
    """Gives each line to `write` as soon as it is known, so that a program that dies has said what it did before."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write
        self._outcomes: Counter[Outcome] = Counter()
        self._word = max(len(said(outcome)) for outcome in Outcome)

    def run(self, checks: Iterable[Check]) -> None:
        for check in checks:
            self.add(check.title, _run_in_time(check))

    def add(self, title: str, finding: Finding) -> None:
        self._outcomes[finding.outcome] += 1
        word = said(finding.outcome)
        sentence = " ".join(said(finding.sentence).split())
        self._write(f"{word:<{self._word}}  {said(title):<{_TITLE}}  {sentence}")

    def end(self) -> int:
        """Write the last line; the exit status: 1 when a check failed, else 0."""
        count, bad = self._outcomes.total(), self._outcomes[Outcome.FAILED]
        self._write(said(counted_message(count, "{n} check, {bad} failed.", "{n} checks, {bad} failed.", bad=bad)))
        return 1 if bad else 0


def _run_in_time(check: Check) -> Finding:
    """Run the check in a thread of its own, which is left behind when its time is over."""
    found: list[Finding] = []
    thread = threading.Thread(target=lambda: found.append(run_guarded(check)), name=check.title, daemon=True)
    thread.start()
    thread.join(check.seconds)
    return found[0] if found else too_late(check.seconds)


def run_guarded(check: Check) -> Finding:
    """Run the check here, however long it takes; what it raises becomes a failure."""
    try:
        return check.look()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 # also the panics of libraries; the other checks go on
        return raised(error)


def raised(error: BaseException) -> Finding:
    """The finding for what was raised, without secrets."""
    if not isinstance(error, UserError):
        return failed(message("{kind}: {text}", kind=type(error).__name__, text=redacted(str(error))))
    if not error.detail:
        return failed(error.message)
    return failed(message("{sentence} ({detail})", sentence=error.message, detail=redacted(error.detail)))


def too_late(seconds: float) -> Finding:
    """The finding for a check that did not end."""
    return failed(message("It did not end within {n:g} seconds.", n=seconds))


def checks_without_window(folder: Path) -> tuple[Check, ...]:
    """In the order in which they run. `folder` is a new one for all that is written; whoever made it removes it."""
    practice = _PracticeJobs(folder)
    return (
        Check(message("Version"), _version),
        Check(message("Keyring"), lambda: asyncio.run(_keyring())),
        Check(message("Certificates for TLS"), _certificates),
        Check(message("Files of the program"), _files_of_program),
        Check(message("Practice model"), _practice_model),
        Check(message("A ranking"), lambda: practice.run("rank"), _PRACTICE_SECONDS),
        Check(message("Exports of the ranking"), lambda: practice.exports("rank"), _PRACTICE_SECONDS),
        Check(message("Vectors"), lambda: practice.run("embed"), _PRACTICE_SECONDS),
        Check(message("Exports of the vectors"), lambda: practice.exports("embed"), _PRACTICE_SECONDS),
        Check(message("Reading a workbook"), lambda: practice.read_back("xlsx")),
        Check(message("Reading Parquet"), lambda: practice.read_back("parquet")),
        Check(message("Maps of the vectors"), practice.maps, _PRACTICE_SECONDS),
    )


def _version() -> Finding:
    is_packed = getattr(sys, "frozen", False)
    place = Path(sys.executable).parent if is_packed else Path(cfbatch_gui.__file__).parent
    return ok(
        message(
            "CF Batch {version}, Python {python}, {system}; in {place}",
            version=cfbatch_gui.__version__,
            python=platform.python_version(),
            system=platform.platform(),
            place=place,
        )
    )


async def _keyring() -> Finding:
    """Store, read back and delete an entry under a name of its own. Its user is never asked for a password."""
    from cfbatch_gui.core.connections.credentials import Credentials, Lock, has_part_for

    if not has_part_for(sys.platform):
        return failed(
            message("The part for the keyring of this system is missing in this installation. Install CF Batch again.")
        )
    own = Credentials(environ={}, time_limit=_KEYRING_SECONDS)
    try:
        lock = await asyncio.wait_for(own.lock(), _KEYRING_SECONDS)
    except TimeoutError:
        return failed(message("The keyring of this system does not answer. Log in again, and try once more."))
    except Exception as error:  # noqa: BLE001 - backends raise whatever their system raises
        return skipped(message("The keyring of this system cannot be asked: {kind}.", kind=type(error).__name__))
    if lock is not Lock.OPEN:
        return skipped(
            message(
                "There is no open keyring here. A token is kept in memory while the program runs, or read from the "
                "environment."
            )
        )
    return await _keyring_round_trip(own, f"self-test-{secrets.token_hex(8)}")


async def _keyring_round_trip(own: "Credentials", name: str) -> Finding:
    from cfbatch_gui.core.connections.credentials import Credentials, TokenSource
    from cfbatch_gui.core.workers_ai.api_tokens import Token

    token = Token(f"not-a-token-{secrets.token_hex(16)}")
    try:
        source = await own.save(name, token)
        other = Credentials(environ={}, time_limit=_KEYRING_SECONDS)  # it has no memory of the entry
        is_back = source is TokenSource.KEYRING and await other.token(name, check=Token, may_prompt=False) == token
    finally:
        await own.forget(name)
    if not is_back:
        return failed(message("The keyring did not give back what was stored in it. Log in again, and try once more."))
    return ok(message("An entry was stored, read back and deleted."))


def _certificates() -> Finding:
    from cfbatch_gui.core.workers_ai.transport import system_certificates

    context = system_certificates()
    # Some contexts are filled when a connection is made; this makes one that is connected with nothing.
    context.wrap_bio(ssl.MemoryBIO(), ssl.MemoryBIO(), server_hostname="example.com")
    if sys.platform in ("win32", "darwin"):
        return ok(message("The system itself is asked about each certificate."))
    filled: ssl.SSLContext = getattr(context, "_ctx", context)  # truststore's own does not tell what is in it
    count = filled.cert_store_stats()["x509_ca"]
    folder = ssl.get_default_verify_paths().capath
    if count == 0 and folder and any(Path(folder).iterdir()):
        return ok(message("Certificates are looked up in {folder} when they are needed.", folder=folder))
    if count == 0:
        return failed(
            message(
                "This system has no certificates, so no connection to Cloudflare can be checked. Install the package"
                " “ca-certificates”."
            )
        )
    return ok(
        counted_message(count, "{n} certificate of the system is read.", "{n} certificates of the system are read.")
    )


def _files_of_program() -> Finding:
    names = resource(CONTENTS).read_text("utf-8").split()
    bad = [name for name in names if not _is_whole(name)]
    if not bad:
        return ok(counted_message(len(names), "{n} file is there and whole.", "{n} files are there and whole."))
    named = cut_list(bad[:_NAMED], len(bad) - _NAMED)
    return failed(message("Install CF Batch again: these files are missing or empty: {files}", files=named))


def _is_whole(name: str) -> bool:
    try:
        return resource(name).stat().st_size > 0
    except OSError:
        return False


def _practice_model() -> Finding:
    import numpy as np

    from cfbatch_gui.core.practice.local_models import HashedNgrams, choose_model

    model = choose_model()
    vectors = model.embed(["An orange cloud"])
    if vectors.shape != (1, model.dimension) or not np.isfinite(vectors).all():
        return failed(message("The practice model gave vectors of a wrong form."))
    if isinstance(model, HashedNgrams):
        return skipped(
            message(
                "The small language model is not installed; the practice service compares letters instead. To install "
                "it: {command}",
                command="pip install 'cfbatch-gui[practice]'",
            )
        )
    return ok(message("{name}, on this computer", name=model.name))


# Each with a row that has no text, so that there is a failed row to export.
_EXAMPLES = {
    "rank": ("examples/help-centre-ranking.csv", "how do I reset my password,,A-9999,0\n"),
    "embed": ("examples/product-texts.csv", "9999,,Kitchen\n"),
}


class _PracticeJobs:
    """Two practice jobs, and what is made of their results; the user's own data folder is never opened.

    `kind` is the value of a `Kind`.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._paths = Paths(folder / "data")
        self._jobs: dict[str, Job] = {}

    def run(self, kind: str) -> Finding:
        from cfbatch_gui.core.inputs.input_values import Kind
        from cfbatch_gui.core.jobs.states import JobState

        started = time.perf_counter()
        name, without_text = _EXAMPLES[kind]
        path = self._folder / f"{kind}.csv"
        path.write_bytes(resource(name).read_bytes() + without_text.encode())
        job = asyncio.run(self._send(Kind(kind), path))
        if job.state is not JobState.DONE:
            return failed(message("The practice job ended as “{state}”. {error}", state=job.state, error=job.error))
        self._jobs[kind] = job
        return ok(
            counted_message(
                job.texts,
                "{n} text went through the practice service in {seconds:.1f} s.",
                "{n} texts went through the practice service in {seconds:.1f} s.",
                seconds=time.perf_counter() - started,
            )
        )

    async def _send(self, kind: "Kind", path: Path) -> "Job":
        from cfbatch_gui.core.connections.credentials import Credentials
        from cfbatch_gui.core.inputs.file_rows import preview
        from cfbatch_gui.core.inputs.recognise.recogniser import open_source
        from cfbatch_gui.core.inputs.suggest import suggest_mapping
        from cfbatch_gui.core.program import Program
        from cfbatch_gui.core.workers_ai.connection_kinds import PRACTICE

        # Nothing of the user's environment: no token, no proxy, no folder.
        environ = {"HOME": str(self._folder), "APPDATA": str(self._folder), "XDG_STATE_HOME": str(self._folder)}
        program = await Program.open(
            self._paths.root,
            environ=environ,
            credentials=Credentials(environ={}),
            practice_times=(0.0, 0.0),
            patience=3,
        )
        try:
            source = await asyncio.to_thread(open_source, path)
            mapping = suggest_mapping(source, kind, preview(source))
            job = program.drafts.create(kind, "self-test", program.settings.model, PRACTICE.id)
            await asyncio.to_thread(program.drafts.load, job.id, source, mapping)
            await program.actions.send(job.id)
            return await program.runner.wait(job.id)
        finally:
            await program.close()

    def exports(self, kind: str) -> Finding:
        from cfbatch_gui.core.export_metadata import metadata_of
        from cfbatch_gui.core.job_folder.folder import JobFolder
        from cfbatch_gui.core.results.exports import export, targets_for
        from cfbatch_gui.core.workers_ai.connection_kinds import PRACTICE

        if kind not in self._jobs:
            return _no_job()
        job = self._jobs[kind]
        absent, written = [], 0
        folder = JobFolder(self._paths.job(job.id))
        for target in targets_for(job.kind):
            path = self._exported(kind, target.name, "".join(target.suffixes[:1]))
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                export(folder, metadata_of(job, PRACTICE.title), path, target)  # which reads back what it has written
            except UserError as error:
                if not isinstance(error.__cause__, ImportError):
                    raise
                absent.append(target.title)
            else:
                written += 1
        sentence = counted_message(
            written, "{n} form was written and read back.", "{n} forms were written and read back."
        )
        if absent:
            sentence = message(
                "{sentence} Not installed, and so not tried: {names}.", sentence=sentence, names=comma_list(absent)
            )
        return ok(sentence)

    def read_back(self, name: str) -> Finding:
        """Whether the program can start itself once more, as it does to read files of such a form."""
        from cfbatch_gui.core.inputs.file_rows import preview
        from cfbatch_gui.core.inputs.recognise.recogniser import open_source

        path = self._exported("rank", name, f".{name}")
        if name == "parquet" and find_spec("arro3") is None:
            return skipped(
                message(
                    "Parquet is not installed. To install it: {command}", command="pip install 'cfbatch-gui[parquet]'"
                )
            )
        if not path.exists():
            return _no_job()
        rows = preview(open_source(path))
        if not rows or not all(any(row.cells) for row in rows):
            return failed(message("The file was read as something else than was written in it."))
        return ok(message("A file was read by a second process of the program."))

    def _exported(self, kind: str, name: str, suffix: str) -> Path:
        return self._folder / "exports" / kind / f"{name}{suffix}"

    def maps(self) -> Finding:
        import numpy as np

        from cfbatch_gui.core.job_folder.folder import JobFolder
        from cfbatch_gui.core.results.embeddings import Embeddings, unit_vectors
        from cfbatch_gui.core.results.text_map import make_map, make_tsne_map

        if "embed" not in self._jobs:
            return _no_job()
        embeddings = Embeddings(JobFolder(self._paths.job(self._jobs["embed"].id)))
        for made in (make_map(embeddings), make_tsne_map(unit_vectors(embeddings))):
            if len(made.points) != embeddings.count or not np.isfinite(made.points).all():
                return failed(message("The map has texts without a place."))
        return ok(
            counted_message(embeddings.count, "{n} text placed, by two methods.", "{n} texts placed, by two methods.")
        )


def _no_job() -> Finding:
    return skipped(message("There is no practice job to take it from."))
