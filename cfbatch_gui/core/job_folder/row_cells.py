"""The cells of a row of the user's file, without storing a second time what is a text of the job.

`source_rows.cells` is a JSON array. A number in it stands for what `texts` has for the row: 0 the text, 1 its id, 2 its
label. A row of which nothing else is left is not stored at all; the fact "row_form" then is the array of each.
"""

from collections.abc import Sequence

import msgspec

from cfbatch_gui.core.inputs.input_values import Role

TEXT, ID, LABEL = 0, 1, 2
ROW_FORM = "row_form"
_decode = msgspec.json.Decoder(list[str | int]).decode
_encode = msgspec.json.Encoder().encode


def cells_sql(rows: str = "f", texts: str = "t") -> str:
    """An expression for a row's cells as a JSON array of strings, NULL when they are not known.

    Of the aliases given, `rows` is `source_rows` for the row of the text, `texts` is `texts`; both may be outer joins.
    """
    form = f"(SELECT value FROM facts WHERE name = '{ROW_FORM}')"  # noqa: S608 - a constant
    return f"row_cells(coalesce({rows}.cells, {form}), {texts}.text, {texts}.text_id, {texts}.label)"


def row_cells(cells: str | None, text: str | None, text_id: str | None, label: str | None) -> str | None:
    """The SQL function: the array with the numbers replaced."""
    if cells is None:
        return None
    found = _decode(cells)
    if not any(type(cell) is int for cell in found):
        return cells
    if text is None:
        return None
    held = (text, text_id, label)
    return _encode([held[cell] if isinstance(cell, int) else cell for cell in found]).decode()


def form_of(roles: Sequence[Role]) -> list[int | None]:
    """For each column of texts what stands in for its cell, None for a cell that is to be stored."""
    form: list[int | None] = [None] * len(roles)
    for stands_for, wanted in ((TEXT, (Role.TEXT, Role.CONTEXT)), (ID, (Role.ID,)), (LABEL, (Role.LABEL,))):
        place = next((place for place, role in enumerate(roles) if role in wanted), None)
        if place is not None:
            form[place] = stands_for
    return form
