"""Drives the window through both kinds of job, and saves every page in light and dark.

    make screenshots                    all of them
    make screenshots ARGS="ranking"     only the pictures whose names begin so; the way to them is walked all the same
    make screenshots ARGS="failure-"    each way in which connecting fails, and what the page says about it
    make screenshots ARGS="help"        those of the help, in each of its languages

The pictures named in IN_REPOSITORY are saved in packaging/screenshots, those of the help in resources/help/pictures,
smaller, and all others in build/screenshots.
"""

import asyncio
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QCursor, QImage
from PySide6.QtWidgets import QApplication
from scenes import at_work, collected, elsewhere, failures, help_pictures, versions, worker_setup

from cfbatch_gui.core.connections.credentials import Credentials
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import BatchState, Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.resources import resource
from cfbatch_gui.ui.theme import Scheme, Theme
from cfbatch_gui.ui.window import loop
from cfbatch_gui.ui.window.app import speak
from cfbatch_gui.words.languages import ENGLISH, languages, load_language
from tests.screen import material
from tests.screen.past import Clock, draft, run
from tests.screen.stage import Stage, opened
from tests.support import faults
from tests.support.clients import save_cloudflare
from tests.support.faulty_service import ThreadedService
from tests.support.keyrings import MemoryKeyring

# Pictures that have a window and data of their own.
APART = (*elsewhere.NAMES, *failures.NAMES, *versions.NAMES, *worker_setup.NAMES, *collected.NAMES)
HERE = Path(__file__).parent
SHOWN = HERE / "screenshots"
OTHERS = HERE.parent / "build" / "screenshots"
HELP_FOLDERS = {
    language.code: resource("help/pictures") / (language.code if language is not ENGLISH else "")
    for language in languages()
}
HELP_WIDTH = 800
HELP_JOBS = {"en": "Support articles, March", "de": "Hilfeartikel, März"}
HELP_COLOURS = 256
IN_REPOSITORY = (
    *(
        "start",
        "draft",
        "working",
        "ranking",
        "match",
        "categories",
        "quality",
        "judging",
        "answer",
        "vectors",
        "map",
        "connection",
    ),
    *("update-list", "vectorize", "account", "account-job"),
)

ACCOUNT = "0123456789abcdef0123456789abcdef"
TOKEN = "practice-takes-any-token-0000000000000000"
HOUR, DAY = 3_600.0, 86_400.0
CTRL = Qt.KeyboardModifier.ControlModifier
_STILL = 0.03  # seconds between two grabs of the screen
_LOOKS = 100


class Camera:
    """Takes a picture of the whole screen once two grabs of it in a row are equal."""

    def __init__(self, theme: Theme, wanted: Sequence[str]) -> None:
        self._theme, self._wanted = theme, tuple(wanted)

    async def take(self, stage: Stage, name: str, folder: Path | None = None) -> None:
        """Save NAME-light.png and NAME-dark.png, in the folder for its name unless another is given."""
        if folder is None and self._wanted and not name.startswith(self._wanted):
            return
        stage.workspace.window.setGeometry(QApplication.primaryScreen().geometry())
        await stage.person.rest(stage.workspace.window, QPoint(720, 814))
        folder = folder or (SHOWN if name in IN_REPOSITORY else OTHERS)
        folder.mkdir(parents=True, exist_ok=True)
        for scheme in (Scheme.LIGHT, Scheme.DARK):
            self._theme.set_scheme(scheme)
            picture = (await self._still()).convertToFormat(QImage.Format.Format_RGB888)
            _save(picture if folder not in HELP_FOLDERS.values() else _small(picture), folder / f"{name}-{scheme}.png")
        self._theme.set_scheme(Scheme.LIGHT)
        print(name, flush=True)

    async def _still(self) -> QImage:
        before = QImage()
        for _ in range(_LOOKS):
            await asyncio.sleep(_STILL)
            now = QApplication.primaryScreen().grabWindow(0).toImage()
            if now == before:
                return now
            before = now
        raise RuntimeError("the screen does not come to rest")


def _small(picture: QImage) -> QImage:
    """A picture of the help's width, in its most frequent colours, of which none is nearly another."""
    small = picture.scaledToWidth(HELP_WIDTH, Qt.TransformationMode.SmoothTransformation)
    small.convertTo(QImage.Format.Format_RGB32)
    counts = Counter(memoryview(small.constBits()).cast("I"))
    kinds: dict[int, int] = {}
    for colour, _ in counts.most_common():
        kinds.setdefault(colour & 0xF8F8F8, colour)
    colours = list(kinds.values())[:HELP_COLOURS]
    return small.convertToFormat(QImage.Format.Format_Indexed8, colours, Qt.ImageConversionFlag.AvoidDither)


def _save(picture: QImage, path: Path) -> None:
    picture.save(str(path), "PNG", 0)  # type: ignore[call-overload]  # as small as can be


async def first_start(root: Path, theme: Theme, camera: Camera, faulty: ThreadedService) -> None:
    """An empty data folder, and an account that is connected."""
    keyring = Credentials(MemoryKeyring(), {})
    environ = {"CLOUDFLARE_API_BASE_URL": faulty.url}
    async with opened(root / "first", theme, environ=environ, credentials=keyring) as stage:
        person = stage.person
        await person.until_sees("Start with an example")
        await camera.take(stage, "start")
        await person.click("Connect my Cloudflare account")
        await person.until_sees("Find my account ID", "Not tested yet")
        await camera.take(stage, "connection-empty")
        await person.type("Account ID", ACCOUNT)
        await person.type("API token", TOKEN)
        await person.click("Save and test")
        await person.until(lambda: sum("Yes" in text for text in person.seen()) >= 4)
        await camera.take(stage, "connection")
        await person.press(Qt.Key.Key_N, CTRL)
        await person.click("Start with an example")
        await person.until_sees("Send 1 batch")
        await stage.rename("Support articles, March")
        await camera.take(stage, "draft")


class Past:
    """Jobs of the last weeks, really run with the clock set back, before the window opens."""

    def __init__(self, files: Path, clock: Clock, faulty: ThreadedService) -> None:
        self._files, self._clock, self._faulty = files, clock, faulty

    async def make(self, root: Path, credentials: Credentials) -> None:
        """Finished jobs, a draft, and a job whose outcome is unknown."""

        def follow(job: Job) -> None:
            if any(batch.state is BatchState.QUEUED for batch in job.batches):
                self._clock.offset += 70  # seconds in the queue

        program = await Program.open(
            root,
            environ={"CLOUDFLARE_API_BASE_URL": self._faulty.url},
            on_change=follow,
            credentials=credentials,
            practice_times=(0.0, 0.0),
            clock=self._clock,
        )
        await save_cloudflare(program, ACCOUNT, TOKEN)
        program.change_settings(connection="practice")
        help_centre = resource("examples/help-centre-ranking.csv")
        self._clock.offset = -17 * DAY
        await run(program, "Reviews by topic", material.reviews(self._files / "reviews.csv", 40, 12), Kind.RANK)
        self._clock.offset = -4 * DAY
        await run(program, "Help centre, baseline", help_centre, Kind.RANK)
        self._clock.offset = -2 * DAY
        beginnings = material.beginnings(self._files / "beginnings.csv", help_centre)
        await run(program, "Help centre, short answers", beginnings, Kind.RANK)
        self._clock.offset = -DAY
        await run(program, "Catalogue vectors", material.catalogue(self._files / "catalogue.csv", 1_820), Kind.EMBED)
        self._clock.offset = -3 * HOUR
        self._faulty.follow(faults.reset_after_body(on="submit"))
        await run(program, "FAQ rerank, second try", help_centre, Kind.RANK, "cloudflare")
        self._faulty.follow()
        self._clock.offset = -2 * HOUR
        await draft(program, "Product search, May", resource("examples/wide-questions.csv"), Kind.RANK)
        await program.close()
        self._clock.offset = 0.0


async def rank(stage: Stage, files: Path, camera: Camera) -> None:
    """From a new job to a ranking and its export."""
    person = stage.person
    await person.press(Qt.Key.Key_N, CTRL)
    await person.click("Start with an example")
    await person.until_sees("Finish without sending", "Compare with…")
    await person.click("Take what earlier jobs have, and send only the rest")
    await person.until_sees("Send 1 batch")
    await stage.rename("Support articles, March")
    await person.click("Send 1 batch")
    await person.until_sees("Export…", "how do I reset my password")
    await camera.take(stage, "ranking")
    await person.click("More")
    await person.choose("Details")
    await camera.take(stage, "details")
    await person.click_row("Jobs", "Reviews by topic")
    await person.click("Overview")
    await person.until_sees("How to read it")
    await camera.take(stage, "overview")
    await person.click_row("Jobs", "Help centre, baseline")
    await person.click("Compare")
    await person.until_row("Jobs to compare with", "Help centre, short answers")
    await camera.take(stage, "comparison-choose")
    await person.click_row("Jobs to compare with", "Help centre, short answers")
    await person.press(Qt.Key.Key_Return)
    await person.until_sees("Answer", "More measures")
    await camera.take(stage, "answer")
    await person.click("Queries")
    await camera.take(stage, "comparison")
    await person.click("Scores")
    await camera.take(stage, "comparison-scores")
    await person.click("More measures")
    await camera.take(stage, "comparison-jobs")
    await person.click_row("Jobs", "Help centre, short answers")
    await person.click("Quality")
    await person.until_sees("mean of 12 queries")
    await camera.take(stage, "quality")
    await judge(stage, files, camera)
    await person.click_row("Jobs", "Support articles, March")
    await person.click("Ranking")
    await person.press(Qt.Key.Key_E, CTRL)
    await person.until_sees("Export as", "rows")
    await camera.take(stage, "export")
    await person.click("Change…")
    await person.until_sees("File name:")
    await camera.take(stage, "export-save")
    await person.press(Qt.Key.Key_Escape)
    await person.press(Qt.Key.Key_Escape)


async def judge(stage: Stage, files: Path, camera: Camera) -> None:
    """Some answers on texts without labels."""
    person = stage.person
    plain = material.without_labels(files / "plain.csv", resource("examples/help-centre-ranking.csv"))
    name = "Support articles, April"
    await run(stage.program, name, plain, Kind.RANK)
    await person.click_row("Jobs", name)
    await person.press(Qt.Key.Key_J, CTRL)
    await person.until_sees("Start judging", "Judged already")
    await camera.take(stage, "judging-start")
    await person.press(Qt.Key.Key_Return)
    await person.until_sees("Would this text help?")
    keys = (Qt.Key.Key_2, Qt.Key.Key_0, Qt.Key.Key_1, Qt.Key.Key_3, Qt.Key.Key_0, Qt.Key.Key_2)
    for count, key in enumerate(keys, 1):
        await person.press(key)
        await person.until_sees(f"{count} of 90")
    await person.press(Qt.Key.Key_Backspace)
    await person.until_sees("5 of 90")
    await camera.take(stage, "judging")
    await person.click("Pause")
    stage.workspace.job_actions.delete(stage.job(name).id)
    await person.until(lambda: name not in person.seen())
    await person.click("Dismiss")  # the notice, which would stand in the next pictures


async def embed(stage: Stage, camera: Camera) -> None:
    """From a new job to vectors."""
    person = stage.person
    await person.click("New job")
    await person.click("Start with an example: Vectors for another program")
    await person.until_sees("Send 1 batch")
    await stage.rename("Product texts")
    await camera.take(stage, "draft-vectors")
    await person.click("Send 1 batch")
    await person.until_sees("Export…", "numbers a text")
    await camera.take(stage, "vectors")
    await person.click_row("Jobs", "Catalogue vectors")
    await person.click("Map")
    await person.until_sees("distances between islands")
    await camera.take(stage, "map")
    await person.click("Search")
    await person.type("A text to look for", "something warm for the bed")
    await person.press(Qt.Key.Key_Return)
    await person.until_row("Texts found", "1")
    await camera.take(stage, "search")
    await person.click("Duplicates")
    await person.until_sees("would go")
    await camera.take(stage, "duplicates")
    await person.click("Groups")
    await person.until_sees("kept and exported")
    await camera.take(stage, "groups")


async def match(stage: Stage, camera: Camera) -> None:
    """From two lists to matches and their review."""
    person = stage.person
    await person.click("New job")
    await person.click("Start with an example: Match two lists")
    await person.until_sees("Send 78 texts")
    await stage.rename("Supplier list, autumn")
    await camera.take(stage, "draft-match")
    await person.click("Send 78 texts")
    await person.until_sees("Export…", "A match from")
    await person.click_row("Matches", "Stock pot, steel, 24 cm, 8 l")
    await camera.take(stage, "match")
    await person.click("Review 11")
    await person.until_sees("Which of these is the same?")
    await camera.take(stage, "review")
    await person.click("Pause")


async def screening(stage: Stage, camera: Camera) -> None:
    """From a list of references to the screening of its records."""
    person, name = stage.person, "Sleep and greenery"
    await run(stage.program, name, resource("examples/sleep-and-greenery.ris"), Kind.EMBED)
    await person.click_row("Jobs", name)
    await person.click("Search")
    await person.type("A text to look for", "Does greenery near the home improve sleep in adults?")
    await person.press(Qt.Key.Key_Return)
    await person.click("Screen in this order…")
    await person.until_sees("Identified 40")
    for count, key in enumerate((Qt.Key.Key_I, Qt.Key.Key_I, Qt.Key.Key_M, Qt.Key.Key_E, Qt.Key.Key_I), 1):
        await person.press(key)
        await person.until_sees(f"{count} of 37")
    await camera.take(stage, "screening")
    await person.click("Pause")


async def categories(stage: Stage, camera: Camera) -> None:
    """From a list and typed categories to the rows of each."""
    person = stage.person
    await person.click("New job")
    await person.click("Start with an example: Sort into categories")
    await person.until_sees("Send 48 texts")
    await stage.rename("Customer letters, October")
    await camera.take(stage, "draft-categories")
    await person.click("Send 48 texts")
    await person.until_sees("Export…", "A category from")
    await person.click_row("Categories", "Late delivery")
    await camera.take(stage, "categories")


async def drafts(stage: Stage, files: Path, camera: Camera) -> None:
    """Drafts with problems, and a file whose encoding is chosen."""
    person = stage.person
    await person.press(Qt.Key.Key_N, CTRL)
    await stage.open_file(material.reviews(files / "store-reviews.csv", 212, 18, gaps=24, separator=";"))
    await person.until_sees("Show rows", "Send ")
    await stage.rename("Store reviews, spring")
    stage.workspace.draft_page.version.set_folded(True)  # for room
    await person.click("Options")
    await camera.take(stage, "draft-options")
    await person.click("Options")
    await person.click("Show rows")
    await person.until_sees("There is no text in")
    await camera.take(stage, "draft-problems")
    await person.press(Qt.Key.Key_N, CTRL)
    await stage.open_file(material.old_letters(files / "letters-1998.csv"))
    await person.until_sees("our guess")
    await person.click("Windows-1252, our guess")
    await person.until_sees("Central European (Windows-1250)")
    await camera.take(stage, "draft-encoding")
    await person.press(Qt.Key.Key_Escape)
    await person.press(Qt.Key.Key_N, CTRL)
    await stage.open_file(material.misquoted(files / "stock.csv"))
    await person.until_sees("Send them as read")
    await person.click("Show rows")
    await person.until_sees("A sofa for two")
    await camera.take(stage, "draft-doubtful")


async def main(theme: Theme, wanted: Sequence[str]) -> None:
    QCursor.setPos(1279, 819)
    camera = Camera(theme, wanted)
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        if _is_wanted(wanted, ["help"]):
            for code, folder in HELP_FOLDERS.items():
                await help_pictures_in(code, folder, root / code, theme, camera)
            speak(application, ENGLISH)
        if not wanted or not all(_is_wanted([each], (*APART, "help")) for each in wanted):
            await usual_way(root, theme, camera)
        if _is_wanted(wanted, elsewhere.NAMES):
            await elsewhere.elsewhere(root / "elsewhere", theme, camera.take)
        if _is_wanted(wanted, failures.NAMES):
            await failures.failures(root / "failures", theme, camera.take)
        if _is_wanted(wanted, worker_setup.NAMES):
            await worker_setup.worker_setup(root / "account", theme, camera.take)
        if _is_wanted(wanted, versions.NAMES):
            await versions.versions(root / "versions", theme, camera.take)
        if _is_wanted(wanted, collected.NAMES):
            await collected.collected(root / "collected", theme, camera.take)


async def usual_way(root: Path, theme: Theme, camera: Camera) -> None:
    """From the first start to jobs at work and jobs that need the user."""
    clock = Clock()
    files = root / "files"
    files.mkdir()
    with ThreadedService(root / "service", clock=clock).opened() as faulty:
        await first_start(root, theme, camera, faulty)
        credentials = Credentials(MemoryKeyring(), {})
        environ = {"CLOUDFLARE_API_BASE_URL": faulty.url}
        window = partial(opened, root / "data", theme, environ=environ, credentials=credentials, clock=clock)
        await Past(files, clock, faulty).make(root / "data", credentials)
        async with window(practice_times=(0.1, 0.1)) as stage:
            await rank(stage, files, camera)
            await embed(stage, camera)
            await match(stage, camera)
            await screening(stage, camera)
            await categories(stage, camera)
            await drafts(stage, files, camera)
        queue = at_work.Queue(clock)
        async with window(practice_times=at_work.TIMES, tell=queue.tell) as stage:
            stage.workspace.window.setGeometry(QApplication.primaryScreen().geometry())
            await at_work.work(stage, files, camera.take, clock, queue)
            await at_work.trouble(stage, files, camera.take, faulty)


async def help_pictures_in(code: str, folder: Path, root: Path, theme: Theme, camera: Camera) -> None:
    """The pictures of the help in this language."""
    speak(application, load_language(code))
    clock, credentials = Clock(), Credentials(MemoryKeyring(), {})
    files = root / "files"
    files.mkdir(parents=True)
    with ThreadedService(root / "service", clock=clock).opened() as faulty:
        environ = {"CLOUDFLARE_API_BASE_URL": faulty.url}
        window = partial(opened, root / "data", theme, environ=environ, credentials=credentials, clock=clock)
        await Past(files, clock, faulty).make(root / "data", credentials)
        take = partial(camera.take, folder=folder)
        async with window() as stage:
            await help_pictures.finished(stage, take, HELP_JOBS[code])
        queue = at_work.Queue(clock)
        async with window(practice_times=at_work.TIMES, tell=queue.tell) as stage:
            await help_pictures.working(stage, take, files, clock, queue)


def _is_wanted(wanted: Sequence[str], names: Sequence[str]) -> bool:
    return not wanted or any(name.startswith(each) or each.startswith(name) for name in wanted for each in names)


if __name__ == "__main__":
    application = QApplication(sys.argv[:1])
    application.setCursorFlashTime(0)
    look = Theme(Scheme.LIGHT)
    look.apply(application)
    loop.run(application, lambda: main(look, sys.argv[1:]))
