"""A walk through all commands on the practice service, with data in Cyrillic, so that its letters are told apart."""

import argparse
import json
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Final

from cfbatch_gui.cli.command_line import command_parser
from tests.core.inputs.files import data_set
from tests.journeys.terminal import Ended, Terminal

Run = Callable[..., Ended]
_QUERIES = ("вопрос один", "вопрос два", "вопрос три")


def commands() -> Iterator[tuple[str, ...]]:
    def below(parser: argparse.ArgumentParser, words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        yield words
        for action in parser._actions:  # argparse has no other way to ask
            if isinstance(action, argparse._SubParsersAction):
                for name, inner in action.choices.items():
                    yield from below(inner, (*words, name))

    yield from below(command_parser(), ())


def write_inputs(folder: Path) -> None:
    folder.mkdir()
    rows = [
        f"{number}-{index};{query};текст {number};{int(number % 4 == index)}"
        for index, query in enumerate(_QUERIES)
        for number in range(400)
    ]
    (folder / "пары.csv").write_text("id;query;text;label\n" + "\n".join(rows) + "\n0;вопрос;;\n", encoding="utf-8")
    words = [line.rsplit(";", 1)[0] + (";да" if line.endswith("1") else ";нет") for line in rows[:12]]
    (folder / "слова.csv").write_text("id;query;text;label\n" + "\n".join(words) + "\n", encoding="utf-8")
    (folder / "тексты.csv").write_text(
        'id,text\n1,тёплый\n2,холодный\n3,тёплый\n4,\n5,"шесть\n6,семь, тоже"\n7,восемь\n8,"девять, тоже"\n',
        encoding="utf-8",
    )
    (folder / "числа.csv").write_text("Берлин,Германия\nПариж,Франция\nРим,Италия\nВена,Австрия\n", encoding="utf-8")
    (folder / "старый.csv").write_bytes(b"id;text\n1;1\n2;\xc9\n")
    (folder / "длинный.csv").write_text(f"text\nкороткий\n{'слово ' * 9_000}\n", encoding="utf-8")
    (folder / "оценки.csv").write_text("query,text,grade\nвопрос один,текст 1,2\nвопрос один,текст 2,0\n", "utf-8")
    (folder / "плохие.csv").write_text("query,text,grade\nвопрос один,текст 1,2\nвопрос,,да\nвопрос,,0,5\n", "utf-8")
    data_set(folder / "набор", texts=[f"документ {number}" for number in range(120)])


# Commands, with “|” between those of a line. “./” is the folder of `write_inputs`.
REFUSED: Final = """
| дело | run | jobs лишнее | export | vectorize | account | account take-over | connections add другое
run ./пары.csv --rank --embed | run ./пары.csv --budget много | run ./пары.csv --role query
run ./пары.csv --role query=дело | run ./пары.csv --split много | run ./пары.csv --candidates 1 | run --data-dir
settle дело | settle дело первый --dismiss | resume --folder-was другое | account take-over дело --rank --embed
export дело --to csv | export дело --threshold много | compare 1 --fail-if-worse 1 | compare 1 --top много
groups ./тексты.csv --similarity 2 | show дело --json=1 | connections probe practice --wait -1
practice serve --port - | practice serve --seconds-queued -1 | connections change практика --keep-days много
match ./тексты.csv | match ./тексты.csv ./слова.csv --top 0 | match ./тексты.csv ./слова.csv --threshold много
search дело тёплый --top 0
vectorize push дело | vectorize push дело --index 1 --metric другое | vectorize push дело --index 1 --row-ids --ids id
"""
WALK: Final = """
jobs | resume | verify | judgements show | show дело
check ./пары.csv --rank | check ./тексты.csv --embed | check ./числа.csv --embed | check ./старый.csv --embed
check ./длинный.csv --embed | check ./набор --rank | check ./тексты.csv --embed --doubtful skip
check ./тексты.csv --embed --doubtful send | check ./пары.csv --embed --budget 0 | check ./пары.csv
check ./нет.csv --embed | check ./пары.csv --rank --candidates judged | check ./пары.csv --rank --role нет=text
check ./тексты.csv --rank | check ./пары.csv --rank --role text=keep | check ./пары.csv --rank --layout shared
check ./пары.csv --rank --recipe нет | check ./набор --embed | check ./слова.csv ./слова.csv --rank
check ./набор --rank --candidates judged
run ./пары.csv --rank --connection practice --name первое --out ./выход.csv
run ./пары.csv --rank --connection practice --at-once --name второе --template "{text} {label}"
run ./тексты.csv --embed --connection practice --name третье
run ./слова.csv --rank --connection practice --name четвёртое
run ./числа.csv --embed --connection practice --name пятое --out ./5.npy
search третье тёплый восемь --top 2 | search третье --queries ./числа.csv --out ./найдено.xlsx | search третье
search первое тёплый
match ./тексты.csv ./слова.csv --text text --connection practice --name шестое | show шестое
match ./тексты.csv ./слова.csv --within нет | match ./тексты.csv ./слова.csv --text A=нет
match ./тексты.csv ./слова.csv --decisions ./оценки.csv --write-decisions ./решения.csv --out ./redirects.csv
related ./тексты.csv --connection practice --name седьмое | groups ./тексты.csv --likeness auto --name восьмое
sort ./тексты.csv --categories ./слова.csv --right id --name девятое | show девятое | sort ./тексты.csv
show восьмое | groups ./тексты.csv --number 0 | groups ./тексты.csv --likeness много
run ./пары.csv --rank --connection cloudflare | run ./пары.csv --rank --connection нет
run ./пары.csv --rank --connection practice --out ./выход.csv --out ./выход.csv
run ./пары.csv --rank --connection practice --out ./пары.csv | run ./пары.csv --rank --connection practice --out ./
run ./пары.csv --rank --connection practice --out ./нет/1.csv
attach REQUEST --connection practice --model @cf/baai/bge-m3 | attach 00000000 --connection practice
attach REQUEST --input ./пары.csv ./пары.csv ./пары.csv | attach REQUEST --out ./выход.csv
jobs | show первое | show третье | show четвёртое
resume | resume первое | resume --failed | resume --folder-was moved | settle первое --dismiss
export первое --out ./1.xlsx --to trec ./1.run | export третье --to vectorize ./векторы | export первое
export первое --out ./2.npy | export третье --out ./3.npy --top-k 2 | export третье --out ./3.npy --columns id
export третье --out ./3.npy --separator ";"
compare первое второе --out ./тексты-2.csv --queries ./вопросы.csv
compare первое второе --fail-if-worse nDCG@10:0.0001 | compare первое второе --fail-if-worse RR:1
compare первое второе --fail-if-worse F1:0.1 | compare первое второе --fail-if-worse nDCG@5:0.1
compare первое второе --fail-if-worse nDCG@5:0.1 --top 3 | compare первое второе --top 0 | compare первое первое
compare первое второе --out ./тексты-2.csv --queries ./тексты-2.csv
judgements import ./оценки.csv --book книга --job первое | judgements import ./плохие.csv --book книга
judgements import ./плохие.csv --book книга --skip-bad | judgements show | judgements show --book книга
judgements export ./книга.csv --book книга --format csv | judgements grades четвёртое
judgements grades четвёртое --accept | judgements grades первое --accept
show первое --judgements книга | compare первое второе --judgements книга
connections | connections add worker --no-test --url https://1.example.com | connections add worker
connections add cloudflare | connections add gateway --account 00000000000000000000000000000000
connections add worker --secret-from НЕТ | connections test practice | connections remove practice
connections probe practice --report ./отчёт.txt | connections probe practice --report ./нет/отчёт.txt
connections set-up | connections set-up --account 00000000000000000000000000000000
connections set-up --account 00000000000000000000000000000000 --dry-run | connections set-up --worker Ж
connections take-down | connections take-down --forget
connections take-down practice --account 00000000000000000000000000000000
connections take-down --worker door --account 00000000000000000000000000000000
run ./пары.csv --rank --connection practice --leave | resume --collect-in-account
account list --connection practice | account clear первое | account clear нет
connections add worker --no-test --url http://127.0.0.1:1 --name рабочий --collects --keep-days 2
account list --connection рабочий | run ./пары.csv --rank --connection рабочий --at-once --leave
run ./пары.csv --rank --connection рабочий --no-collect-in-account --leave | connections change рабочий
connections change рабочий --keep-days 0 | connections change рабочий --keep-days 1
connections change рабочий --no-collects | connections change practice --collects
backup ./копия.zip | verify | vectorize list --connection practice
"""
# With a Cloudflare account, whose connection each is given.
IN_ACCOUNT: Final = """
vectorize list | vectorize push третье --index нет | vectorize push третье --index first
vectorize push третье --index first --create --metadata text
vectorize push третье --index first --metric euclidean
vectorize push третье --index first --ids text --metadata text=$ | vectorize push пятое --index first
vectorize push пятое --index first --delete-removed | vectorize push первое --index first
vectorize list | vectorize info first
vectorize search третье тёплый --index first
"""
PROGRAMS: Final = """
jobs --json | show шестое --json | search третье тёплый --json
show первое --json | show восьмое --json | compare первое второе --json
judgements show --json | verify --json | connections list --json | resume --json
vectorize list --connection cloudflare --json
"""


def written(text: str) -> Iterator[list[str]]:
    for line in text.strip().split("\n"):
        yield from map(shlex.split, line.split("|"))


def people_read(terminal: Terminal, folder: Path, url: str) -> Iterator[tuple[Sequence[str], Ended]]:
    """Each command of the walk, with what it printed for people. `folder` is that of `write_inputs`, `url` the address
    of an account, which is connected in the end.
    """
    run = terminal.run
    helped = ([*words, "--help"] for words in commands())
    for words in chain(helped, written(REFUSED), written(WALK)):
        if "REQUEST" in words:
            request = json.loads(run("show", "первое", "--json").out)["batches"][0]["request_id"]
            words[words.index("REQUEST")] = request
        yield words, run(*(folder / word[2:] if word.startswith("./") else word for word in words))
    terminal.connect(url)
    for words in written(IN_ACCOUNT):
        yield words, run(*words, "--connection", "cloudflare")


def for_programs(run: Run) -> Iterator[str]:
    """What commands print for programs, after the walk: without times, which differ."""
    for words in written(PROGRAMS):
        yield re.sub(r"\d\d:\d\d:\d\d[.\d]*", "", run(*words).out)
