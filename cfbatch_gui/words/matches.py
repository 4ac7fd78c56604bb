"""What both faces say of matches: the state of a row, why it is to be checked, and numbers that differ."""

import re
from typing import NamedTuple

from cfbatch_gui.core.results.matches import Doubt, MatchState
from cfbatch_gui.core.results.matching import differing_numbers
from cfbatch_gui.words.figures import worded
from cfbatch_gui.words.languages import tr
from cfbatch_gui.words.states import Role


class MatchLook(NamedTuple):
    word: str
    icon: str
    role: Role


def match_look(state: MatchState) -> MatchLook:
    return {
        MatchState.MATCHED: MatchLook(tr("matched"), "check", "done"),
        MatchState.SAME: MatchLook(tr("same text"), "check", "done"),
        MatchState.ACCEPTED: MatchLook(tr("by you"), "user", "done"),
        MatchState.CHECK: MatchLook(tr("to check"), "circle-help", "attention"),
        MatchState.WITHOUT: MatchLook(tr("without"), "minus", "quiet"),
        MatchState.NONE: MatchLook(tr("by you"), "user", "quiet"),
    }[state]


def doubt_words(doubt: Doubt) -> str:
    return {
        Doubt.NEAR: tr("its score is close to the threshold"),
        Doubt.CLOSE: tr("the first two are close"),
        Doubt.NUMBER: tr("the first differs in a number"),
        Doubt.TAKEN: tr("you gave the first to another row"),
    }[doubt]


def number_words(text_a: str, text_b: str) -> str:
    """How the numbers of list B's text differ, "" where they do not."""
    of_a, of_b = (
        ", ".join(text[start:stop] for start, stop in spans)
        for text, spans in zip((text_a, text_b), differing_numbers(text_a, text_b), strict=True)
    )
    if of_a and of_b:
        return worded("{b}, not {a}", a=of_a, b=of_b)
    if of_b:
        return worded("{b} besides", b=of_b)
    return worded("without {a}", a=of_a) if of_a else ""


def numbers_line(text_a: str, text_b: str) -> tuple[str, bool]:
    """What is to be said of the numbers of two texts, "" where one has none, and whether some of them differ."""
    if words := number_words(text_a, text_b):
        return worded("Differs in a number: {words}", words=words), True
    has_numbers = all(re.search(r"\d", text) for text in (text_a, text_b))
    return tr("The same numbers") if has_numbers else "", False
