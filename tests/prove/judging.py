"""Kills while somebody judges: what was on the screen as saved must be in the book, and nothing half of anything."""

import os
import random
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from cfbatch_gui.core.judgements.book import Book
from cfbatch_gui.core.judgements.session import Session, Shown
from cfbatch_gui.core.judgements.tables import CANNOT_TELL, newest
from cfbatch_gui.core.judgements.values import Judgement, Subject
from tests.prove.compare import Breach, Finding
from tests.prove.parts import Bench
from tests.prove.report import Catch

TEXTS = 40
KEYS = 60
LONGEST = 0.12  # seconds after the first key until the kill, at most
UNDO = "⌫"
_ROUNDS = 60  # to catch the program that writes late; one is enough unless the machine is busy
Key = int | None | str  # a grade, "cannot tell", or undo
State = dict[str, int | None]  # grades by text


@dataclass(frozen=True, slots=True)
class Round:
    """One run of the judging until it was killed: the texts, the keys, and how many of them were shown as saved."""

    texts: Sequence[str]
    keys: Sequence[Key]
    saved: int


def pairs_of(texts: Sequence[str]) -> list[Shown]:
    return [Shown(Subject("q", "a query"), Subject("", text)) for text in texts]


def states(texts: Sequence[str], keys: Sequence[Key], before: State) -> list[State]:
    """What the book says after each key, from before the first one."""
    found = [before]
    given: list[str] = []
    for key in keys:
        now = dict(found[-1])
        if key == UNDO:
            if given:
                text = given.pop()
                now.pop(text)
                if text in before:
                    now[text] = before[text]
        elif len(given) < len(texts):
            given.append(texts[len(given)])
            now[given[-1]] = key if isinstance(key, int) else None
        found.append(now)
    return found


def read_state(path: Path) -> tuple[State, tuple[str, ...]]:
    """What the book says now, and what it says about damage."""
    book = Book(path, read_only=False, clock=time.time)
    try:
        records, subjects = book.contents()
        found = newest(records)
        state: State = {
            subjects[int(each["document"])].text: None if each["flags"] & CANNOT_TELL else int(each["grade"])
            for each in found
        }
        return state, book.damage
    finally:
        book.close()


def judge_until_killed(path: Path, rng: random.Random, prepare: Callable[[], None] = lambda: None) -> Round:
    """Judge in a child that says after each key that it is saved, and kill it at a random moment."""
    texts = [f"text {number}" for number in rng.sample(range(10 * TEXTS), TEXTS)]
    choices: tuple[Key, ...] = (0, 1, 2, 3, None, UNDO)
    keys = [rng.choice(choices) for _ in range(KEYS)]
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            prepare()
            _press(path, texts, keys, writing)
        finally:
            os._exit(0)
    os.close(writing)
    os.read(reading, 1)  # it is ready for the first key
    time.sleep(rng.uniform(0, LONGEST))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    saved = 0
    while chunk := os.read(reading, 4096):
        saved += len(chunk)
    os.close(reading)
    return Round(texts, keys, saved)


def _press(path: Path, texts: Sequence[str], keys: Sequence[Key], writing: int) -> None:
    session = Session(Book(path, read_only=False, clock=time.time), pairs_of(texts), judge="me", clock=time.time)
    os.write(writing, b".")
    for key in keys:
        if key == UNDO:
            session.undo()
        elif not session.is_done:
            session.judge(key if isinstance(key, int) else None)
        os.write(writing, b".")


def compare(path: Path, before: State, done: Round) -> tuple[State, list[Finding]]:
    """The state of the book after a kill, and what is wrong with it."""
    state, damage = read_state(path)
    after = states(done.texts, done.keys, before)
    possible = after[done.saved : done.saved + 2]  # the key that was being saved may have been saved
    found = [Finding(Breach.LOST, f"said to be damaged: {sentence}") for sentence in damage]
    if state not in possible:
        missing = {text: grade for text, grade in possible[0].items() if state.get(text, -1) != grade}
        found.append(Finding(Breach.LOST, f"judgements after key {done.saved}: {len(missing)} are not as saved"))
    return state, found


def kill_judging(bench: Bench, kills: int, seed: int) -> None:
    """Kill judging at random moments; each round goes on with the book of the last one."""
    with bench.timed("judging") as part:
        path = bench.folder / "judging" / "book.db"
        Book.create(path, "killed", clock=time.time).close()
        rng = random.Random(seed)
        state: State = {}
        for _ in range(kills):
            done = judge_until_killed(path, rng)
            state, found = compare(path, state, done)
            part.kills += 1
            part.add(str(path), found)
            bench.on_kill()


def catch_late_writing(bench: Bench, seed: int) -> None:
    """A program that writes every answer with the next one must be caught."""

    def write_late() -> None:
        add, waiting = Book.add, list[Judgement]()

        def late(book: Book, judgements: Sequence[Judgement]) -> None:
            now, waiting[:] = list(waiting), judgements
            add(book, now)

        Book.add = late  # type: ignore[method-assign, assignment]

    path = bench.folder / "judging late" / "book.db"
    Book.create(path, "late", clock=time.time).close()
    rng = random.Random(seed)
    state: State = {}
    for _ in range(_ROUNDS):
        done = judge_until_killed(path, rng, write_late)
        state, found = compare(path, state, done)
        if found:
            bench.report.catches.append(Catch(LATE, "any key", found[0].breach.value, found[0].words))
            return
    bench.report.catches.append(Catch(LATE, "any key", ""))


LATE = "an answer is written with the next one"
