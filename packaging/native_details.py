"""What Windows and macOS are told of the program: the version resource of an .exe, and the Info.plist of the .app.

*Untried here*: neither system was at hand. `cfbatch.spec` reads both.
"""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OPENED = {  # what the program opens, and by which suffixes; it is nobody's usual program
    "Comma-separated values": ("csv", "tsv"),
    "Spreadsheet": ("xlsx", "xls", "ods"),
    "JSON": ("json", "jsonl", "ndjson"),
    "Parquet": ("parquet",),
    "Text": ("txt", "md"),
    "Word document": ("docx",),
    "References": ("ris", "nbib", "bib"),
}
_RESOURCE = """VSVersionInfo(
  ffi=FixedFileInfo(filevers={numbers}, prodvers={numbers}, mask=0x3f, flags=0x0, OS=0x40004, fileType=0x1, subtype=0x0,
    date=(0, 0)),
  kids=[
    StringFileInfo([StringTable('040904B0', [
      StringStruct('CompanyName', 'CF Batch contributors'),
      StringStruct('FileDescription', '{description}'),
      StringStruct('FileVersion', '{version}'),
      StringStruct('InternalName', '{name}'),
      StringStruct('LegalCopyright', 'MIT licence'),
      StringStruct('OriginalFilename', '{name}.exe'),
      StringStruct('ProductName', 'CF Batch'),
      StringStruct('ProductVersion', '{version}')])]),
    VarFileInfo([VarStruct('Translation', [1033, 1200])])
  ]
)
"""


def version() -> str:
    """The program's version, without importing it."""
    found = re.search(r'__version__ = "([^"]+)"', (ROOT / "cfbatch_gui" / "__init__.py").read_text("utf-8"))
    if found is None:
        raise ValueError("cfbatch_gui/__init__.py has no version")
    return found[1]


def four_numbers(text: str) -> tuple[int, int, int, int]:
    """A version as Windows counts it: 0.1.0 and 0.1.0rc1 are (0, 1, 0, 0)."""
    found = [int(number) for number in re.findall(r"\d+", re.split(r"[a-z+-]", text, maxsplit=1)[0])]
    first, second, third, fourth = (*found, 0, 0, 0, 0)[:4]
    return first, second, third, fourth


def version_resource(name: str, description: str) -> str:
    """The text of the file that PyInstaller makes the version resource of `name`.exe from."""
    return _RESOURCE.format(numbers=four_numbers(version()), version=version(), name=name, description=description)


def info_plist() -> dict[str, object]:
    """What is added to PyInstaller's own Info.plist. The oldest system is that of Qt 6.11 and later."""
    numbers = ".".join(map(str, four_numbers(version())[:3]))
    return {
        "CFBundleShortVersionString": numbers,
        "CFBundleVersion": numbers,
        # PyInstaller takes both from the last of two programs, the one of the terminal: an icon that opens nothing.
        "CFBundleExecutable": "cfbatch-gui",
        "LSBackgroundOnly": False,
        "CFBundleDevelopmentRegion": "en",
        "CFBundleLocalizations": ["en", "de"],
        "LSApplicationCategoryType": "public.app-category.productivity",
        "LSMinimumSystemVersion": "13.0",
        "NSHighResolutionCapable": True,
        "NSHumanReadableCopyright": "CF Batch contributors, MIT licence",
        "CFBundleDocumentTypes": [
            {
                "CFBundleTypeName": kind,
                "CFBundleTypeExtensions": list(suffixes),
                "CFBundleTypeRole": "Viewer",
                "LSHandlerRank": "Alternate",
            }
            for kind, suffixes in OPENED.items()
        ],
    }
