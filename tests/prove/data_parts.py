"""The parts of the proof that kill nothing: answers that are mixed up, damaged data folders, damaged results."""

import logging

from tests.prove import leftovers
from tests.prove.damaging import DamagedStarts
from tests.prove.leftovers import BROKEN, Broken
from tests.prove.parts import Bench
from tests.prove.report import Catch


def mix_up_answers(bench: Bench, answers: int, seed: int) -> None:
    """Answers of a service that leaves bytes behind, cuts, merges, delays and swaps them."""
    with bench.timed("answers that are mixed up") as part:
        part.add(f"seed {seed}", leftovers.run(answers, seed, 1))
        part.tried += answers


def catch_mixed_up(bench: Bench, broken: Broken, seed: int) -> None:
    """Run a client that takes such answers until a number reaches another text."""
    found = leftovers.catch(broken, seed, workers=1)
    breach = found[0].breach.value if found else ""
    bench.report.catches.append(Catch(broken.name, "answers that are mixed up" if found else "", breach))


def broken_clients() -> list[str]:
    """Their names, in order."""
    return [broken.name for broken in BROKEN]


def start_damaged(bench: Bench, starts: int, seed: int) -> None:
    """Starts on damaged data folders. Patches this process and starts threads in it: the last part of a worker."""
    folder = bench.folder / "damaged"
    folder.mkdir()
    logging.getLogger().addHandler(logging.NullHandler())  # every start warns of what was damaged on purpose
    with bench.timed("starts on damaged folders") as part:
        damaged = DamagedStarts(folder, seed)
        try:
            part.add("undamaged", damaged.harmless())
            damaged.run(starts, part)
        finally:
            damaged.close()
