"""What each purpose of a job is called, what a person gets from it, and its icon."""

from typing import NamedTuple

from cfbatch_gui.core.jobs.states import Job, Purpose
from cfbatch_gui.words.languages import tr

ICONS = {
    Purpose.RANK: "list-ordered",
    Purpose.MATCH: "link",
    Purpose.CATEGORIES: "tag",
    Purpose.GROUPS: "layers",
    Purpose.SEARCH: "search",
    Purpose.VECTORS: "waypoints",
}


class PurposeWords(NamedTuple):
    title: str
    sentence: str  # what a person gets, for two lines of a tile
    short: str  # the same after the title, on a line of its own
    icon: str


def purpose_words(purpose: Purpose) -> PurposeWords:
    title, sentence, short = {
        Purpose.RANK: (
            tr("Rank answers"),
            tr("For each of your questions the best answers come first, each with a score."),
            tr("the best answers first, for each question"),
        ),
        Purpose.MATCH: (
            tr("Match two lists"),
            tr("Beside each row of one list stands the closest row of the other, or nothing."),
            tr("the closest row of B beside each row of A"),
        ),
        Purpose.CATEGORIES: (
            tr("Sort into categories"),
            tr("Each row gets one of your own categories or none, and the second best beside it."),
            tr("one of your categories for each row, or none"),
        ),
        Purpose.GROUPS: (
            tr("Find groups and duplicates"),
            tr("What belongs together gets a name, and what is there twice is shown."),
            tr("what belongs together, and what is there twice"),
        ),
        Purpose.SEARCH: (
            tr("Search my texts"),
            tr("Find rows by what they mean, in any words and any language, as often as you like."),
            tr("find rows by meaning, as often as you like"),
        ),
        Purpose.VECTORS: (
            tr("Vectors for another program"),
            tr("Each text comes back as a row of numbers, for a database or a notebook."),
            tr("numbers for a database or a notebook"),
        ),
    }[purpose]
    return PurposeWords(title, sentence, short, ICONS[purpose])


def other_uses(job: Job, *, has_lists: bool) -> list[tuple[str, Purpose]]:
    """What else the vectors of a job serve; the rows of one list are matched with each other."""
    uses = {purpose: purpose_words(purpose).title for purpose in Purpose if purpose is not Purpose.RANK}
    if not has_lists:
        uses[Purpose.MATCH] = tr("Find related rows")
    return [(words, purpose) for purpose, words in uses.items() if purpose is not job.purpose]
