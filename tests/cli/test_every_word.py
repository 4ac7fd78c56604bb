"""Whatever the terminal says to people can be said in another language; what programs read stays English."""

import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from gettext import GNUTranslations
from pathlib import Path
from typing import Final

import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo

from cfbatch_gui.cli.command_line import run_command
from cfbatch_gui.cli.main import main
from cfbatch_gui.cli.parser import language_for
from cfbatch_gui.core.messages import Message
from cfbatch_gui.core.system.paths import Paths
from cfbatch_gui.core.system.settings import Settings
from cfbatch_gui.words.languages import ENGLISH, Language, use_language
from tests.cli.all_commands import for_programs, people_read, write_inputs
from tests.journeys.terminal import Ended, Terminal
from tests.screen.pseudo_language import PseudoLanguage
from tests.support.practice import PracticeServer
from tests.test_translations import translations

# What `said` leaves as it is: data, the service's own words, and what core would say without a template.
LEFT, LEFT_END = "⦃", "⦄"
BEGIN, END = "⟦", "⟧"
# Of texts themselves; figures that were filled in have usual ones.
_OTHER_DIGITS = str.maketrans("0123456789", "𝟎𝟏𝟐𝟑𝟒𝟓𝟔𝟕𝟖𝟗")
_ENGLISH_FIGURE = re.compile(r"[0-9]\.[0-9]{1,2}(?![0-9])|[0-9]\.[0-9]{4}")
_KEPT = re.compile(r"(\{[^{}]*\}|%(?:\(\w+\))?[sr])")  # also the parameters of argparse

# What is English in every language, and why.
NOT_TRANSLATED: Final = {
    r"\b[Ѐ-ӿ\w-]+\.(?:csv|npy|xlsx|run|json|zip|txt|pem|jsonl|tsv|parquet)\b": "names of files",
    r"(?m)^ {2}(?:cfbatch|curl) .*$": "examples of commands",
    r"(?s)^\d+ held, \d+ not held, \d+ not seen\.\nReport: .*": "a report to send to others",
    r"[Ѐ-ӿ]+": "data of this test",
    r"(?<![\w-])--?[a-z][a-z-]*": "names of options",
    r"\{[a-z_,-]+\}": "values of options",
    r"(?m)^ {4}[a-z-]+ {3,}": "names of commands",
    r"\bcfbatch(?: [a-z]+(?:-[a-z]+)?)*\b": "the name of the program and of commands",
    r"(?m)(?:^|(?<= ))[A-Z](?=[ \]])": "letters that stand for values and for jobs",
    r"CF Batch \d+\.\d+\.\d+": "the name of the program",
    r"(?m)^(?:wrangler|curl) .*$": "commands of other programs",
    r"(?m)^ {2}(?:trec|beir|quepid|csv|jsonl)\b": "values of an option",
    r"@cf/[\w/-]+|\bbge-[\w-]+": "names of models",
    r"\b(?:nDCG|P|R|Recall|Precision|Success|Judged)@\d+|\b(?:RR|AP|bpref|RBO)\b|\(exp\)": "names of measures",
    r"\b(?:judged|corpus|sample)(?::\d+|\[:N\])?(?=  |[|\]\n])": "values of an option",
    r"\b(?:id|text|query|label)\b(?=[:;])": "columns of a file",
    r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}\b": "request ids",
    r"https?://\S+": "addresses",
    r"\d{4}-\d\d-\d\d \d\d:\d\d": "times",
    r"\b[0-9a-f]{64}\b": "hashes",
    r"(?<=⟧  )(?:practice|cloudflare)\b": "kinds of connections, as they are typed",
    r"\b(?:practice|cloudflare)(?=  )": "ids of connections",
    r"\bcosine\b": "a metric of Vectorize, as it is typed",
    r"(?m)^ {4}(?:GET|PUT|POST|DELETE) /\S+": "calls of Cloudflare's API",
    r"\bWorkers (?:Scripts|R2 Storage) Write\b": "permissions, as Cloudflare's API calls them",
    r"\b(?:cf-batch-[a-z]+|door(?:-[a-z]+)?)\b": "names of Workers and of what belongs to them",
    r"(?m)^first(?=  )|(?<=  )first$": "the name of an index",
    r"(?m)(?<=  )text$": "a column",
    r"\bAdded job, ": "the name of an attached job, which is stored",
    r"(?m)^Matches(?=  )": "the name of a book",
    r"(?m)(?<=· )(?:UTF-8|Windows-125\d)$": "names of encodings",
}

# What `said` leaves as it is though it has letters, and why.
LEFT_AS_IT_IS: Final = {
    r"--[a-z][a-z-]*": "names of options",
    r"'[\w-]+'": "values of arguments, as argparse quotes them",
    r"\b(?:int|float)\b": "types, as argparse names them",
    r"\bkind\b": "an argument whose values are its name",
    r"\b(?:CSV|JSON|docx|Parquet|RIS|PubMed|BibTeX)\b": "names of formats",
    r"“(?:id|text|query|label)”": "columns of a file",
    r"^Cloudflare$": "the name of a connection",
}


class _Marked(Language):
    def said(self, text: str) -> str:
        return super().said(text) if isinstance(text, Message) or not text else f"{LEFT}{text}{LEFT_END}"


def pseudo() -> Language:
    """A catalogue with a translation of every text that was collected; one that was not stays English."""
    pseudo_language, source = PseudoLanguage(), Catalog(locale="de")

    def made(text: str) -> str:
        parts = _KEPT.split(pseudo_language.translated(text))
        return "".join(part if _KEPT.fullmatch(part) else part.translate(_OTHER_DIGITS) for part in parts)

    for each in translations.collected():
        if isinstance(each.id, tuple):
            source.add(each.id, tuple(map(made, each.id)), context=each.context)
        elif each.id:
            source.add(each.id, made(each.id), context=each.context)
    stream = io.BytesIO()
    write_mo(stream, source)
    stream.seek(0)
    return _Marked("pseudo", "Pseudo", ",", ".", catalogue=GNUTranslations(stream))


@dataclass
class Walk:
    """What every command printed in the pseudo-language, and what programs were given in it and in English."""

    folder: Path
    job_ids: list[str]
    printed: list[tuple[Sequence[str], Ended]]
    to_programs: list[str]
    to_programs_in_english: list[str]

    def without_exceptions(self, text: str) -> str:
        text = re.sub(rf"{re.escape(str(self.folder))}[\w./-]*", "", text)
        for pattern in (*NOT_TRANSLATED, *self.job_ids):
            text = re.sub(pattern, "", text)
        return text

    def left(self) -> set[str]:
        parts = f"{LEFT}([^{LEFT}{LEFT_END}{BEGIN}{END}]*){LEFT_END}"
        return {each for _, ended in self.printed for each in re.findall(parts, ended.out + ended.err)}

    def streams(self) -> Iterator[tuple[Sequence[str], str]]:
        """Each command with what it printed on one stream, without exceptions."""
        for arguments, ended in self.printed:
            for stream in (ended.out, ended.err):
                yield arguments, self.without_exceptions(stream)


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory) -> Walk:
    folder = tmp_path_factory.mktemp("walk")
    write_inputs(folder / "in")
    terminal = Terminal(folder / "data", {"COLUMNS": "10000"}, entry=run_command)  # in which nothing is cut
    with PracticeServer(folder / "service") as server:
        use_language(pseudo())
        try:
            printed = list(people_read(terminal, folder / "in", server.url))
            to_programs = list(for_programs(terminal.run))
        finally:
            use_language(ENGLISH)
        job_ids = [job["job"] for job in terminal.jobs()]
        return Walk(folder, job_ids, printed, to_programs, list(for_programs(terminal.run)))


def outside(text: str) -> list[str]:
    found, depth = [], 0
    for line in text.split("\n"):
        is_outside = False
        for sign in line:
            if sign in BEGIN + LEFT:
                depth += 1
            elif sign in END + LEFT_END:
                depth -= 1
            elif depth == 0 and sign.isalpha():
                is_outside = True
        if is_outside:
            found.append(line)
    assert depth == 0, text
    return found


def test_whatever_people_read_is_in_their_language(walk: Walk) -> None:
    found = [(arguments, line) for arguments, stream in walk.streams() for line in outside(stream)]
    assert found == []


def test_figures_have_the_signs_of_the_language(walk: Walk) -> None:
    own = ((arguments, re.sub(f"{LEFT}[^{LEFT_END}]*{LEFT_END}", "", stream)) for arguments, stream in walk.streams())
    found = [(arguments, figures) for arguments, stream in own if (figures := _ENGLISH_FIGURE.findall(stream))]
    assert found == []
    (job,) = [ended.out for arguments, ended in walk.printed if arguments == ["show", "первое"]]
    assert re.search(r"⟦1\.201 ", job) and re.search(r"\b1\.200 ", job) and re.search(r" 0,\d{4}\n", job)


def test_core_says_nothing_without_a_template(walk: Walk) -> None:
    found = []
    for text in walk.left():
        rest = walk.without_exceptions(text)
        for pattern in LEFT_AS_IT_IS:
            rest = re.sub(pattern, "", rest)
        if any(sign.isalpha() for sign in rest):
            found.append(text)
    assert found == []


def test_programs_are_answered_in_english(walk: Walk) -> None:
    assert all(walk.to_programs)
    assert walk.to_programs == walk.to_programs_in_english
    assert not any(sign in text for text in walk.to_programs for sign in BEGIN + LEFT)


def test_the_language_is_the_chosen_one_else_the_systems(tmp_path: Path) -> None:
    german = {"LANG": "de_DE.UTF-8", "CFBATCH_DATA_DIR": str(tmp_path / "usual")}
    asked = ["jobs", "--data-dir", str(tmp_path)]
    assert language_for(asked, german).code == "de"
    assert language_for(asked, {"LANG": "C"}).code == "en"
    paths = Paths(tmp_path)
    Settings(language="en").save(paths.settings)
    assert language_for(asked, german).code == "en"
    assert language_for([f"--data-dir={tmp_path}", "no command"], german).code == "en"
    assert language_for(["jobs", "--data-dir"], german).code == "de"
    assert language_for(["jobs"], german | {"CFBATCH_DATA_DIR": str(tmp_path)}).code == "en"
    Settings(language="de").save(paths.settings)
    assert language_for(asked, {}).code == "de"
    Settings(language="tlh").save(paths.settings)
    assert language_for(asked, german).code == "en"


@pytest.mark.parametrize("content", ["no settings", '{"language": 5}'])
def test_settings_that_cannot_be_read_choose_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str
) -> None:
    Paths(tmp_path).settings.write_text(content)
    assert language_for(["--data-dir", str(tmp_path)], {}).code == "en"
    assert main(["jobs", "--json", "--data-dir", str(tmp_path)]) == 0
    assert capsys.readouterr().err == ""
