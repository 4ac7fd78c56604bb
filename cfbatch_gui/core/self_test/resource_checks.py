"""Whether the files that ship with the program are there and can be read."""

from cfbatch_gui.core.messages import comma_list, counted_message, enumerated, message
from cfbatch_gui.core.self_test.findings import Check, Finding, failed, ok
from cfbatch_gui.core.system.languages import TRANSLATED, Catalogue, languages
from cfbatch_gui.core.system.resources import resource

CONTENTS = "contents.txt"  # the names of all files below resources/, one a line
_PNG = b"\x89PNG\r\n\x1a\n"
_NAMED = 5  # missing files; of more, how many


def resource_checks() -> tuple[Check, ...]:
    """The checks of this module."""
    return (Check(message("Files of the program"), _all_files), Check(message("Languages"), _languages))


def _all_files() -> Finding:
    names = resource(CONTENTS).read_text("utf-8").split()
    bad = [message("{name} ({reason})", name=name, reason=reason) for name in names if (reason := _fault(name))]
    if not bad:
        return ok(counted_message(len(names), "{n} file is there and whole.", "{n} files are there and whole."))
    more = len(bad) - _NAMED
    named = comma_list(bad[:_NAMED])
    if more > 0:
        named = message("{list} and {n:,} more", list=named, n=more)
    return failed(message("Install CF Batch again: these files are not as they should be: {files}", files=named))


def _fault(name: str) -> str:
    """What is wrong with a file, "" when nothing is."""
    try:
        content = resource(name).read_bytes()
    except FileNotFoundError:
        return message("missing")
    except OSError as error:
        return error.strerror or type(error).__name__
    if not content:
        return message("empty")
    if name.endswith(".png"):
        return "" if content.startswith(_PNG) else message("no picture")
    if name.endswith(".mo"):
        return ""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return message("no text")
    return message("no drawing") if name.endswith(".svg") and "</svg>" not in text else ""


def _languages() -> Finding:
    counts = []
    for language in TRANSLATED:
        with resource(f"translations/{language.code}.mo").open("rb") as file:
            counts.append(counted_message(len(Catalogue(file).sources), "{n:,} text", "{n:,} texts"))
    return ok(
        message(
            "{names}; {counts} translated.",
            names=enumerated([each.name for each in languages()]),
            counts=comma_list(counts),
        )
    )
