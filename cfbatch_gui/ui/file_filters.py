"""The kinds of file that a dialog for opening offers: all that the core reads, known by content and not by name."""

_KINDS = (
    ("Spreadsheets", "*.csv *.tsv *.tab *.xlsx *.xlsm *.xls *.xlsb *.ods"),
    ("Texts and documents", "*.txt *.text *.md *.docx"),
    ("JSON and JSON Lines", "*.json *.jsonl *.ndjson"),
    ("Parquet", "*.parquet"),
    ("Packed files", "*.gz *.zip"),
)

FILTERS = (
    f"All supported files ({' '.join(patterns for _, patterns in _KINDS)})",
    *(f"{name} ({patterns})" for name, patterns in _KINDS),
    "All files (*)",
)
"""For a file dialog, the first one preselected."""
