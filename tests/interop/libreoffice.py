"""Opens a spreadsheet in LibreOffice without a window."""

import csv
import re
import subprocess
from pathlib import Path

# Comma, double quotes, UTF-8, from line 1; then: quote only where necessary, write formulas, and numbers in full.
_AS_CSV = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,false,false,false,false,1"
CSV_AS_EXCEL_WRITES_IT = "--infilter=Text - txt - csv (StarCalc):44,34,76,1,,1033,false,true"


def as_csv(path: Path, folder: Path) -> list[list[str]]:
    """The first sheet's cells as LibreOffice reads them."""
    convert(path, folder, _AS_CSV)
    (found,) = folder.glob("*.csv")
    with found.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def formulas(path: Path, folder: Path, *options: str) -> list[str]:
    """Every formula that LibreOffice finds in the file; `options` are its import options for CSV."""
    convert(path, folder, "fods", *options)
    (found,) = folder.glob("*.fods")
    return re.findall(r'table:formula="([^"]*)"', found.read_text("utf-8"))


def convert(path: Path, folder: Path, form: str, *options: str) -> None:
    """Convert the file to another format in `folder`; the new path."""
    folder.mkdir()
    profile = folder / "profile"
    command = ["soffice", f"-env:UserInstallation={profile.as_uri()}", "--headless", "--norestore", *options]
    command += ["--convert-to", form, "--outdir", str(folder), str(path)]
    subprocess.run(command, check=True, capture_output=True, timeout=240)
