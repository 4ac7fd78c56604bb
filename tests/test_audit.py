"""`make audit`: what it makes of a report of pip-audit, and of none."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BEFORE = "# as it was\n"
PINS = {
    "run.txt": "holey==1.0 \\\n    --hash=sha256:00\n    # via x\nsound==2.0 ; python_full_version < '3.12' \\\n"
    "    --hash=sha256:00\nsound==3.0 ; python_full_version >= '3.12' \\\n    --hash=sha256:00\n",
    "test.txt": "holey==1.0 \\\n    --hash=sha256:00\nTester==4.0 ; sys_platform == 'win32' \\\n    --hash=sha256:00\n",
}
ADVISORY = {"id": "PYSEC-2026-1", "aliases": ["CVE-2026-0001"], "fix_versions": ["1.1"]}
# pip-audit's own interface with the answers of the environment behind it; it writes down what it was asked for.
PLAIN = """
import json, os, sys
words = sys.argv[1:]
if words == ["--version"]:
    print("pip-audit 0")
    sys.exit()
after = lambda name: words[words.index(name) + 1]
answers = json.loads(os.environ["ANSWERS"])
found = []
for line in open(after("-r")):
    open(os.environ["ASKED"], "a").write(line)
    name, _, version = line.strip().partition("==")
    found.append({"name": name, **(answers.get(name) or {"version": version, "vulns": []})})
json.dump({"dependencies": found, "fixes": []}, open(after("-o"), "w"))
sys.exit(any(each.get("vulns") for each in found))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "requirements").mkdir()
    for name, text in PINS.items():
        (tmp_path / "requirements" / name).write_text(text)
    (tmp_path / "audit.md").write_text(BEFORE)
    (tmp_path / "pip-audit").write_text(f"#!{sys.executable}\n{PLAIN}")
    (tmp_path / "pip-audit").chmod(0o755)
    return tmp_path


def audit(folder: Path, answers: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, str(ROOT / "packaging" / "audit.py"), "--program", str(folder / "pip-audit")]
    command += ["--requirements", str(folder / "requirements"), "--page", str(folder / "audit.md")]
    environ = os.environ | {"ANSWERS": answers, "ASKED": str(folder / "asked")}
    return subprocess.run(command, env=environ, check=False, capture_output=True, text=True, timeout=240)


def test_a_vulnerable_package_is_named_with_what_mends_it(folder: Path) -> None:
    ended = audit(folder, json.dumps({"holey": {"version": "1.0", "vulns": [ADVISORY]}}))
    assert ended.returncode == 1, ended.stderr
    asked = (folder / "asked").read_text().split()
    assert sorted(asked) == ["holey==1.0", "sound==2.0", "sound==3.0", "tester==4.0"]
    page = (folder / "audit.md").read_text()
    assert "4 packages were looked up, 3 of them part of the\nprogram. 1 package has a known vulnerability." in page
    (row,) = [line for line in page.splitlines() if line.startswith("| holey")]
    assert [cell.strip() for cell in row.strip("|").split("|")][::2] == ["holey 1.0", "1.1"]
    assert "PYSEC-2026-1" in row and "CVE-2026-0001" in row and "the program" in row
    assert "UTC" in page and "pip-audit" in page and "PYSEC-2026-1" in ended.stderr


def test_clean_packages_are_said_to_be_so_with_the_time(folder: Path) -> None:
    ended = audit(folder, "{}")
    assert (ended.returncode, ended.stdout) == (0, ""), ended.stderr
    page = (folder / "audit.md").read_text()
    assert "No packages have a known vulnerability." in page and "|" not in page


@pytest.mark.parametrize("answers", ["", '{"sound": {"skip_reason": "Dependency not found"}}'])
def test_without_an_answer_for_every_package_there_is_no_result_and_the_page_stays(folder: Path, answers: str) -> None:
    ended = audit(folder, answers)
    assert ended.returncode == 2
    assert ended.stderr.startswith("No result") and "Traceback" not in ended.stderr
    assert (folder / "audit.md").read_text() == BEFORE


def test_every_pin_of_the_project_is_found() -> None:
    """As many as the lines that pin something, in whatever way they are written."""
    program = (
        "import runpy, sys; from pathlib import Path;"
        "pins = runpy.run_path(sys.argv[1])['pins_of'](Path(sys.argv[2])); print(sum(map(len, pins.values())))"
    )
    command = [sys.executable, "-c", program, str(ROOT / "packaging" / "audit.py"), str(ROOT / "requirements")]
    found = int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    texts = [path.read_text() for path in (ROOT / "requirements").glob("*.txt")]
    assert found == sum(line[:1].isalnum() for text in texts for line in text.splitlines()) > 300
