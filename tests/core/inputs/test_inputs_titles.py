"""Which of several text columns is guessed to be the text: a description rather than a name."""

import csv
import io
from pathlib import Path

import pytest

from cfbatch_gui.core.inputs.file_rows import preview
from cfbatch_gui.core.inputs.input_values import Role
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.inputs.suggest import suggest_mapping

CELLS = {
    "s": "Desk lamp {n}",
    "l": "This lamp is made of oak, gives a warm light and has a cable of two metres; number {n}.",
    "d": "The same words for every second lamp, whatever its number in the shop may be.",
    "n": "{n}.50",
    "u": "https://shop.example/a/very/long/path/to/the/product/number/{n}?with=parameters&and=more",
    "c": "Lamps",
    "i": "A-{n:03}",
    "e": "",
    "m": '{{"source": "crawl of the shop", "lang": "en", "n": {n}, "of": [1, 2, 3, 4, 5, 6, 7, 8, 9]}}',
    "j": "机上ライト{n}",
    "k": "このライトはオーク材でできており、暖かい光を出します。コードは二メートルです。番号{n}",
}
# Column names, a row's cells, and the column that is the text.
CASES = """
Title,Description|sl|Description
Title,Description|sd|Description
Title,Description|se|Title
Title,Category|sc|Title
Title,Link|su|Title
Name,Price|sn|Name
Title,metadata|sm|Title
id,title,description,link,image_link,price|isluun|description
Handle,Title,Body (HTML),Vendor,Type,Tags|islccc|Body (HTML)
ID,Type,SKU,Name,Short description,Description,Regular price|iciseln|Description
TITLE,DESCRIPTION,PRICE,CURRENCY_CODE,QUANTITY,TAGS|slncnc|DESCRIPTION
Titel,Beschreibung,Preis|sln|Beschreibung
Artikelnummer,Bezeichnung,Langtext|isl|Langtext
Artikel,Artikelbeschreibung,Preis|sln|Artikelbeschreibung
Titre,Description,Prix|sln|Description
Nom du produit,Description longue|sl|Description longue
Nombre,Descripción larga|sl|Descripción larga
Titolo,Descrizione|sl|Descrizione
Titel,Omschrijving|sl|Omschrijving
Tytuł,Opis|sl|Opis
Название,Описание|sl|Описание
タイトル,説明|jk|説明
商品名,URL,紹介文|juk|紹介文
标题,描述|jk|描述
제목,설명|sl|설명
العنوان,الوصف|sl|الوصف
Title,Authors,Abstract Note,DOI|ssli|Abstract Note
title,selftext|sl|selftext
Summary,Issue key,Description|sil|Description
Title,Long Description HTML|sl|Long Description HTML
Title,Notes|sl|Notes
Name,About|sl|About
text,notes|sl|text
text,description|ls|text
"""


@pytest.mark.parametrize("case", CASES.split("\n")[1:-1])
def test_the_text_is_what_describes(tmp_path: Path, case: str) -> None:
    header, kinds, expected = case.split("|")
    table = io.StringIO(newline="")
    rows = [[CELLS[kind].format(n=number) for kind in kinds] for number in range(12)]
    csv.writer(table).writerows([header.split(","), *rows])
    path = tmp_path / "a.csv"
    path.write_text(table.getvalue(), encoding="utf-8", newline="")
    source = open_source(path)
    roles = suggest_mapping(source, None, preview(source)).roles
    assert [name for name, role in zip(source.columns, roles, strict=True) if role is Role.TEXT] == [expected]
