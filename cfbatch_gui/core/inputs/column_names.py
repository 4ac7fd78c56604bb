"""Names of columns, and the words that usually name them, in several languages."""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from cfbatch_gui.core.messages import cut_list, quoted

_SHOWN = 12
_LONGEST_FIGURE = 60  # characters
_NUMBER = re.compile(r"\s*[-+]?[\d.,' ]*\d[\d.,' ]*(?:[eE][-+]?\d+)?\s*%?")
_DATE = re.compile(r"\s*\d{1,4}[-./]\d{1,2}[-./]\d{1,4}(?:[T ][\d:.]+)?\s*")


def index_of(name: str, columns: Sequence[str]) -> int | None:
    """The index of the column with this name, or of the only one that differs just in case or outer spaces."""
    if name in columns:
        return columns.index(name)
    alike = [index for index, column in enumerate(columns) if column.strip().casefold() == name.strip().casefold()]
    return alike[0] if len(alike) == 1 else None


def listed(columns: Sequence[str]) -> str:
    """The names as part of a sentence; of more than 12 only the first."""
    names = [quoted(column) for column in columns[: _SHOWN + 1]]
    return cut_list(names[:_SHOWN], len(columns) - _SHOWN)


def complete_names(cells: Sequence[str], width: int) -> tuple[str, ...]:
    taken: set[str] = set()
    names = []
    for number in range(1, width + 1):
        cell = cells[number - 1] if number <= len(cells) else ""
        base = " ".join(cell.split()) or f"Column {number}"
        name, copy = base, 1
        while name in taken:
            copy += 1
            name = f"{base} ({copy})"
        taken.add(name)
        names.append(name)
    return tuple(names)


def is_number_or_date(cell: str) -> bool:
    return len(cell) <= _LONGEST_FIGURE and bool(_NUMBER.fullmatch(cell) or _DATE.fullmatch(cell))


_QUERY = """
query queries question questions search searchterm keyword keywords utterance prompt topic anchor
frage fragen anfrage suchanfrage suchbegriff suche requete question recherche consulta pregunta busqueda
pergunta busca domanda ricerca interrogazione vraag zoekopdracht zoekterm pytanie zapytanie fraga sokning sporsmal
dotaz otazka kysymys soru sorgu arama вопрос запрос سؤال استعلام שאלה
質問 質問文 クエリ 検索 問題 问题 查询 查詢 질문 쿼리
"""
_CONTEXT = """
context contexts passage passages document documents doc docs answer answers response candidate candidates paragraph
result snippet corpus positive negative
antwort antworten kontext dokument absatz treffer reponse contexte document respuesta contexto documento resposta
risposta contesto antwoord odpowiedz dokument svar odpoved vastaus cevap yanit belge ответ контекст документ
إجابة جواب مستند תשובה 回答 文書 答え 答案 文档 文檔 답변 문서
"""
_TEXT = """
text texts content body description abstract summary article chunk sentence message comment review title name
inhalt beschreibung zusammenfassung artikel titel nachricht kommentar texte contenu resume titre descriptif
texto contenido descripcion resumen titulo conteudo descricao testo contenuto descrizione titolo tekst inhoud
omschrijving opis tresc tytul beskrivning beskrivelse metin aciklama icerik baslik
текст описание содержание название نص وصف محتوى عنوان טקסט תיאור
テキスト 本文 説明 内容 文本 正文 描述 标题 텍스트 본문 설명 제목
"""
_TITLE = """
title name titel titre titulo titolo tytul baslik artikel artikelname bezeichnung название عنوان 标题 제목
"""
_ID = """
id ids key sku uid uuid guid identifier code number no nr num isbn ean gtin asin doi url uri ref reference docid docno
pid qid did nummer artikelnummer kennung schluessel numero clave codigo identifiant codice identificatore numer
номер код идентификатор رقم معرف מזהה 番号 コード 编号 編號 번호 index
"""
_LABEL = """
label labels relevance relevant rel rating grade score judgement judgment gain stars category class
relevanz bewertung note etikett kategorie klasse pertinence etiquette categorie relevancia etiqueta calificacion
categoria rilevanza etichetta relevantie categorie ocena kategoria relevans kategori оценка метка категория
релевантность تقييم فئة ラベル 関連度 評価 カテゴリ 标签 相关性 类别 類別 라벨 관련도
"""
_COMPOUNDS = "nummer nr beschreibung bezeichnung titel text frage antwort kommentar"
_DOCUMENT_ID = frozenset({"docid", "docno", "pid", "doc", "document", "passage", "corpus", "context", "candidate"})
_QUERY_ID = frozenset({"query", "question", "qid", "q", "search", "topic", "frage", "anfrage", "requete", "consulta"})


# Letters that Unicode does not decompose into a base letter and a mark.
_UNDIVIDED = str.maketrans({"ı": "i", "ł": "l", "ø": "o", "đ": "d", "æ": "ae", "œ": "oe"})


def _fold(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text.casefold().translate(_UNDIVIDED))
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))


def _words(text: str) -> frozenset[str]:
    return frozenset(_fold(text).split())


QUERY, CONTEXT, TEXT, ID, LABEL = map(_words, (_QUERY, _CONTEXT, _TEXT, _ID, _LABEL))
_TITLES = _words(_TITLE)
_KNOWN = QUERY | CONTEXT | TEXT | ID | LABEL
_LAST_PARTS = sorted(
    _words(_COMPOUNDS) | {word for word in _KNOWN if len(word) > 1 and word[0] > "\u2e7f"}, key=len, reverse=True
)


@lru_cache(maxsize=4096)
def _words_of(name: str) -> tuple[str, ...]:
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return tuple(part for word in re.findall(r"[^\W\d_]+", _fold(parted)) for part in _parts_of(word))


def _parts_of(word: str) -> tuple[str, ...]:
    if word in _KNOWN:
        return (word,)
    last = next((end for end in _LAST_PARTS if word.endswith(end) and len(word) > len(end) + 1), "")
    return (word.removesuffix(last), last) if last else (word,)


def is_number_sign(name: str) -> bool:
    return name.strip() in ("#", "№")


def is_known(name: str) -> bool:
    words = _words_of(name)
    return 0 < len(words) <= 3 and words[-1] in _KNOWN


def is_id(name: str) -> bool:
    words = _words_of(name)
    is_named = bool(words) and (words[-1] in ID or words[0] in ("id", "sku")) and len(words) <= 3
    return is_named or is_number_sign(name)


def is_query_id(name: str) -> bool:
    words = _words_of(name)
    return is_id(name) and bool(_QUERY_ID & set(words))


def is_document_id(name: str) -> bool:
    return is_id(name) and bool(_DOCUMENT_ID & set(_words_of(name)))


def is_label(name: str) -> bool:
    words = _words_of(name)
    return 0 < len(words) <= 3 and (words[-1] in LABEL or words[0] in LABEL)


def is_negative(name: str) -> bool:
    return any(word.startswith("neg") for word in _words_of(name))


def is_positive(name: str) -> bool:
    return any(word in ("pos", "positive", "positives") for word in _words_of(name))


def is_query(name: str) -> bool:
    return _is_of(QUERY, name)


def is_context(name: str) -> bool:
    return _is_of(CONTEXT, name)


def is_text(name: str) -> bool:
    return _is_of(TEXT, name)


def is_title(name: str) -> bool:
    found = set(_words_of(name))
    return is_text(name) and bool(found & _TITLES) and not found & (TEXT - _TITLES)


def _is_of(group: frozenset[str], name: str) -> bool:
    words = _words_of(name)
    if not 0 < len(words) <= 3 or is_id(name) or is_label(name):
        return False
    return words[-1] in group or (words[0] in group and (words[-1] in TEXT or len(words[-1]) == 1))
