"""What both faces say of matches: the state of a row, why it is to be checked, and numbers that differ."""

import re
from typing import NamedTuple

from cfbatch_gui.core.results.matches import Doubt, MatchState
from cfbatch_gui.core.results.matching import differing_numbers
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


def numbers_line(text_a: str, text_b: str) -> tuple[str, bool]:
    """What is to be said of the numbers of two texts, "" where one has none, and whether some of them differ."""
    of_a, of_b = (
        ", ".join(text[start:stop] for start, stop in spans)
        for text, spans in zip((text_a, text_b), differing_numbers(text_a, text_b), strict=True)
    )
    if not (of_a or of_b):
        has_numbers = all(re.search(r"\d", text) for text in (text_a, text_b))
        return tr("The same numbers") if has_numbers else "", False
    pattern = tr("Differs in a number: {b}, not {a}")
    if not of_a:
        pattern = tr("Differs in a number: {b} besides")
    elif not of_b:
        pattern = tr("Differs in a number: without {a}")
    return pattern.format(a=of_a, b=of_b), True
