"""The practice tokenizer: counts and cuts texts, the same whichever model makes the vectors.

A token is up to four letters or digits of one word, up to three signs of punctuation, or one character of a
script written without spaces, one emoji, or any other sign. White space is free. For English prose that is
about one token for four characters, for Chinese and Japanese one a character: near the XLM-R tokenizer of
bge-m3, and honest about being another one.
"""

import re

_TOKEN = re.compile(
    r"[^\W_\u0e00-\u0eff\u1100-\u11ff\u2e80-\ua4cf\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff]{1,4}"
    r"|[!-/:-@\[-`{-~]{1,3}"
    r"|\S"
)


def count_tokens(text: str) -> int:
    """The number of practice tokens in a text; 0 for white space alone."""
    return len(_TOKEN.findall(text))


def cut(text: str, limit: int) -> str:
    """The beginning of a text that holds at most `limit` tokens."""
    for number, match in enumerate(_TOKEN.finditer(text)):
        if number == limit:
            return text[: match.start()]
    return text
