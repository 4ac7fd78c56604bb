"""What a sentence says, without its words."""

from cfbatch_gui.core.messages import Message


def code_of(sentence: str) -> str:
    """The code of a sentence, "" of other text."""
    return sentence.code if isinstance(sentence, Message) else ""
