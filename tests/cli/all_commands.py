"""A walk through all commands on the practice service, with data in Cyrillic, so that its letters are told apart."""

import argparse
import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from cfbatch_gui.cli.command_line import command_parser
from tests.core.inputs.collections import data_set
from tests.journeys.terminal import Ended

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


def people_read(run: Run, folder: Path) -> Iterator[tuple[Sequence[object], Ended]]:
    """Each command of the walk, with what it printed for people. `folder` is that of `write_inputs`."""

    def said(*arguments: object) -> Iterator[tuple[Sequence[object], Ended]]:
        yield arguments, run(*arguments)

    pairs, texts, practice = folder / "пары.csv", folder / "тексты.csv", ("--connection", "practice")
    for words in commands():
        yield from said(*words, "--help")
    # What argparse refuses, and what the commands' own types refuse.
    for wrong in (
        (), ("дело",), ("run",), ("jobs", "лишнее"), ("run", pairs, "--rank", "--embed"), ("settle", "дело"),
        ("resume", "--folder-was", "другое"), ("settle", "дело", "первый", "--dismiss"), ("export",),
        ("export", "дело", "--to", "csv"), ("run", pairs, "--budget", "много"), ("run", pairs, "--role", "query"),
        ("run", pairs, "--role", "query=дело"), ("run", pairs, "--split", "много"), ("run", pairs, "--candidates", "1"),
        ("show", "дело", "--duplicates", "2"), ("show", "дело", "--clusters", "0"),
        ("compare", "1", "--fail-if-worse", "1"),
        ("connections", "probe", "practice", "--wait", "-1"), ("practice", "serve", "--port", "-"),
        ("practice", "serve", "--seconds-queued", "-1"), ("show", "дело", "--json=1"), ("run", "--data-dir"),
        ("compare", "1", "--top", "много"), ("connections", "add", "другое"),
        ("export", "дело", "--threshold", "много"), ("vectorize",), ("vectorize", "push", "дело"),
        ("vectorize", "push", "дело", "--index", "1", "--metric", "другое"),
        ("vectorize", "push", "дело", "--index", "1", "--row-ids", "--ids", "id"), ("account",),
        ("account", "take-over"), ("account", "take-over", "дело", "--rank", "--embed"),
        ("connections", "change", "практика", "--keep-days", "много"),
    ):  # fmt: skip
        yield from said(*wrong)
    yield from said("jobs")
    yield from said("resume")
    yield from said("verify")
    yield from said("judgements", "show")
    yield from said("show", "дело")
    for more in (
        (pairs, "--rank"), (texts, "--embed"), (folder / "числа.csv", "--embed"), (folder / "старый.csv", "--embed"),
        (folder / "длинный.csv", "--embed"), (folder / "набор", "--rank"), (texts, "--embed", "--doubtful", "skip"),
        (texts, "--embed", "--doubtful", "send"), (pairs, "--embed", "--budget", "0"), (pairs,),
        (folder / "нет.csv", "--embed"), (pairs, "--rank", "--candidates", "judged"),
        (pairs, "--rank", "--role", "нет=text"), (texts, "--rank"), (pairs, "--rank", "--role", "text=keep"),
        (pairs, "--rank", "--layout", "shared"), (pairs, "--rank", "--recipe", "нет"),
        (folder / "набор", "--embed"), (folder / "слова.csv", folder / "слова.csv", "--rank"),
        (folder / "набор", "--rank", "--candidates", "judged"),
    ):  # fmt: skip
        yield from said("check", *more)
    out = folder / "выход.csv"
    yield from said("run", pairs, "--rank", *practice, "--name", "первое", "--out", out)
    yield from said("run", pairs, "--rank", *practice, "--at-once", "--name", "второе", "--template", "{text} {label}")
    yield from said("run", texts, "--embed", *practice, "--name", "третье")
    yield from said("run", folder / "слова.csv", "--rank", *practice, "--name", "четвёртое")
    yield from said("run", folder / "числа.csv", "--embed", *practice, "--name", "пятое", "--out", folder / "5.npy")
    yield from said("run", pairs, "--rank", "--connection", "cloudflare")
    yield from said("run", pairs, "--rank", "--connection", "нет")
    for paths in ((out, out), (pairs,), (folder,), (folder / "нет" / "1.csv",)):
        yield from said("run", pairs, "--rank", *practice, *(word for path in paths for word in ("--out", path)))
    request = json.loads(run("show", "первое", "--json").out)["batches"][0]["request_id"]
    yield from said("attach", request, *practice, "--model", "@cf/baai/bge-m3")
    yield from said("attach", "0" * 8, *practice)
    yield from said("attach", request, "--input", pairs, pairs, pairs)
    yield from said("attach", request, "--out", out)
    yield from said("jobs")
    yield from said("show", "первое")
    yield from said("show", "третье", "--duplicates", "0.9", "--clusters", "2")
    yield from said("show", "четвёртое")
    yield from said("show", "первое", "--clusters", "2")
    yield from said("resume")
    yield from said("resume", "первое")
    yield from said("resume", "--failed")
    yield from said("resume", "--folder-was", "moved")
    yield from said("settle", "первое", "--dismiss")
    yield from said("export", "первое", "--out", folder / "1.xlsx", "--to", "trec", folder / "1.run")
    yield from said("export", "третье", "--to", "vectorize", folder / "векторы")
    yield from said("export", "первое")
    yield from said("export", "первое", "--out", folder / "2.npy")
    yield from said("export", "третье", "--out", folder / "3.npy", "--top-k", "2")
    yield from said("export", "третье", "--out", folder / "3.npy", "--columns", "id")
    yield from said("export", "третье", "--out", folder / "3.npy", "--separator", ";")
    texts_out, queries_out = folder / "тексты-2.csv", folder / "вопросы.csv"
    compared = ("compare", "первое", "второе")
    yield from said(*compared, "--out", texts_out, "--queries", queries_out)
    for limit in ("nDCG@10:0.0001", "RR:1", "F1:0.1", "nDCG@5:0.1"):
        yield from said(*compared, "--fail-if-worse", limit)
    yield from said(*compared, "--fail-if-worse", "nDCG@5:0.1", "--top", "3")
    yield from said(*compared, "--top", "0")
    yield from said("compare", "первое", "первое")
    yield from said(*compared, "--out", texts_out, "--queries", texts_out)
    yield from said("judgements", "import", folder / "оценки.csv", "--book", "книга", "--job", "первое")
    yield from said("judgements", "import", folder / "плохие.csv", "--book", "книга")
    yield from said("judgements", "import", folder / "плохие.csv", "--book", "книга", "--skip-bad")
    yield from said("judgements", "show")
    yield from said("judgements", "show", "--book", "книга")
    yield from said("judgements", "export", folder / "книга.csv", "--book", "книга", "--format", "csv")
    yield from said("judgements", "grades", "четвёртое")
    yield from said("judgements", "grades", "четвёртое", "--accept")
    yield from said("judgements", "grades", "первое", "--accept")
    yield from said("show", "первое", "--judgements", "книга")
    yield from said(*compared, "--judgements", "книга")
    yield from said("connections")
    yield from said("connections", "add", "worker", "--no-test", "--url", "https://1.example.com")
    yield from said("connections", "add", "worker")
    yield from said("connections", "add", "cloudflare")
    yield from said("connections", "add", "gateway", "--account", "0" * 32)
    yield from said("connections", "add", "worker", "--secret-from", "НЕТ")
    yield from said("connections", "test", "practice")
    yield from said("connections", "remove", "practice")
    yield from said("connections", "probe", "practice", "--report", folder / "отчёт.txt")
    yield from said("connections", "probe", "practice", "--report", folder / "нет" / "отчёт.txt")
    yield from said("connections", "set-up")
    yield from said("connections", "set-up", "--account", "0" * 32)
    yield from said("connections", "set-up", "--account", "0" * 32, "--dry-run")
    yield from said("connections", "set-up", "--worker", "Ж")
    yield from said("connections", "take-down")
    yield from said("connections", "take-down", "--forget")
    yield from said("connections", "take-down", "practice", "--account", "0" * 32)
    yield from said("connections", "take-down", "--worker", "door", "--account", "0" * 32)
    yield from said("run", pairs, "--rank", *practice, "--leave")
    yield from said("resume", "--collect-in-account")
    yield from said("account", "list", *practice)
    yield from said("account", "clear", "первое")
    yield from said("account", "clear", "нет")
    worker = ("connections", "add", "worker", "--no-test", "--url", "http://127.0.0.1:1", "--name")
    yield from said(*worker, "рабочий", "--collects", "--keep-days", "2")
    yield from said("account", "list", "--connection", "рабочий")
    yield from said("run", pairs, "--rank", "--connection", "рабочий", "--at-once", "--leave")
    yield from said("run", pairs, "--rank", "--connection", "рабочий", "--no-collect-in-account", "--leave")
    for change in ((), ("--keep-days", "0"), ("--keep-days", "1"), ("--no-collects",)):
        yield from said("connections", "change", "рабочий", *change)
    yield from said("connections", "change", "practice", "--collects")
    push = ("vectorize", "push", "третье", "--index")
    yield from said("vectorize", "list", *practice)
    yield from said(*push, "нет")
    yield from said(*push, "first")
    yield from said(*push, "first", "--create", "--metadata", "text")
    yield from said(*push, "first", "--metric", "euclidean")
    yield from said(*push, "first", "--ids", "text", "--metadata", "text=$")
    yield from said("vectorize", "push", "пятое", "--index", "first")
    yield from said("vectorize", "push", "пятое", "--index", "first", "--delete-removed")
    yield from said("vectorize", "push", "первое", "--index", "first")
    yield from said("vectorize", "list", *practice)
    yield from said("vectorize", "info", "first", *practice)
    yield from said("vectorize", "search", "третье", "тёплый", "--index", "first")
    yield from said("backup", folder / "копия.zip")
    yield from said("verify")


def for_programs(run: Run) -> Iterator[str]:
    """What commands print for programs, after the walk: without times, which differ."""
    for arguments in (
        ("jobs", "--json"), ("show", "первое", "--json"), ("show", "третье", "--json", "--duplicates", "0.9"),
        ("compare", "первое", "второе", "--json"), ("judgements", "show", "--json"), ("verify", "--json"),
        ("connections", "list", "--json"), ("resume", "--json"),
        ("vectorize", "list", "--connection", "practice", "--json"),
    ):  # fmt: skip
        yield re.sub(r"\d\d:\d\d:\d\d[.\d]*", "", run(*arguments).out)
