"""`make audit`: what it makes of an answer, and of none. The advisories are a loopback service in the form of OSV's."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
REAL = ROOT / "build" / "audit" / "bin" / "pip-audit"
BEFORE = "# as it was\n"
PINS = {
    "run.txt": "holey==1.0 \\\n    --hash=sha256:00\n    # via x\nsound==2.0 ; python_full_version < '3.12' \\\n"
    "    --hash=sha256:00\nsound==3.0 ; python_full_version >= '3.12' \\\n    --hash=sha256:00\n",
    "test.txt": "holey==1.0 \\\n    --hash=sha256:00\nTester==4.0 ; sys_platform == 'win32' \\\n    --hash=sha256:00\n",
}
ADVISORY = {
    "id": "PYSEC-2026-1",
    "aliases": ["CVE-2026-0001"],
    "modified": "2026-01-01T00:00:00Z",
    "published": "2026-01-01T00:00:00Z",
    "summary": "A hole.",
    "affected": [
        {
            "package": {"name": "holey", "ecosystem": "PyPI"},
            "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "1.1"}]}],
        }
    ],
}
# pip-audit's own interface with nothing behind it but the same service, for where the real one is not installed.
PLAIN = """
import json, sys, urllib.request
words = sys.argv[1:]
if words == ["--version"]:
    print("pip-audit 0 (plain)")
    sys.exit()
after = lambda name: words[words.index(name) + 1]
found = []
for line in open(after("-r")):
    name, _, version = line.strip().partition("==")
    asked = json.dumps({"package": {"name": name, "ecosystem": "PyPI"}, "version": version}).encode()
    with urllib.request.urlopen(urllib.request.Request(after("--osv-url"), asked)) as answer:
        said = json.load(answer)
    if "skip" in said:
        found.append({"name": name, "skip_reason": said["skip"]})
        continue
    vulns = [
        {"id": each["id"], "aliases": each["aliases"], "fix_versions": ["1.1"], "description": ""}
        for each in said.get("vulns", [])
    ]
    found.append({"name": name, "version": version, "vulns": vulns})
json.dump({"dependencies": found, "fixes": []}, open(after("-o"), "w"))
sys.exit(any(each.get("vulns") for each in found))
"""


@contextmanager
def advisories(answers: dict[str, dict[str, object]]) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """The address of the service, and what it was asked for. Packages without an answer have no advisory."""
    asked: list[tuple[str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            query = json.loads(self.rfile.read(int(self.headers["content-length"])))
            name = query["package"]["name"]
            asked.append((name, query["version"]))
            body = json.dumps(answers.get(name, {})).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1/query", asked
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(params=["plain", "real"])
def program(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    if request.param == "real":
        if not REAL.exists():
            pytest.skip("scripts/audit.sh has not installed pip-audit")
        return REAL
    path = tmp_path / "pip-audit"
    path.write_text(f"#!{sys.executable}\n{PLAIN}")
    path.chmod(0o755)
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "requirements").mkdir()
    for name, text in PINS.items():
        (tmp_path / "requirements" / name).write_text(text)
    (tmp_path / "audit.md").write_text(BEFORE)
    return tmp_path


def audit(program: Path, folder: Path, url: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, str(ROOT / "packaging" / "audit.py"), "--program", str(program), "--service", "osv"]
    command += ["--osv-url", url, "--requirements", str(folder / "requirements"), "--page", str(folder / "audit.md")]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=240)


def test_a_vulnerable_package_is_named_with_what_mends_it(program: Path, folder: Path) -> None:
    with advisories({"holey": {"vulns": [ADVISORY]}}) as (url, asked):
        ended = audit(program, folder, url)
    assert ended.returncode == 1, ended.stderr
    assert sorted(asked) == [("holey", "1.0"), ("sound", "2.0"), ("sound", "3.0"), ("tester", "4.0")]
    page = (folder / "audit.md").read_text()
    assert "4 packages were looked up, 3 of them part of the\nprogram. 1 package has a known vulnerability." in page
    (row,) = [line for line in page.splitlines() if line.startswith("| holey")]
    assert [cell.strip() for cell in row.strip("|").split("|")][::2] == ["holey 1.0", "1.1"]
    assert "PYSEC-2026-1" in row and "CVE-2026-0001" in row and "the program" in row
    assert "UTC" in page and "pip-audit" in page and "PYSEC-2026-1" in ended.stderr


def test_clean_packages_are_said_to_be_so_with_the_time(program: Path, folder: Path) -> None:
    with advisories({}) as (url, _):
        ended = audit(program, folder, url)
    assert (ended.returncode, ended.stdout) == (0, ""), ended.stderr
    page = (folder / "audit.md").read_text()
    assert "No packages have a known vulnerability." in page and "|" not in page


def test_without_the_service_there_is_no_result_and_the_page_stays(program: Path, folder: Path) -> None:
    with advisories({}) as (url, _):
        pass  # nobody listens there any more
    ended = audit(program, folder, url)
    assert ended.returncode == 2
    assert ended.stderr.startswith("No result, and audit.md stays as it was.") and "Traceback" not in ended.stderr
    assert (folder / "audit.md").read_text() == BEFORE


@pytest.mark.parametrize("program", ["plain"], indirect=True)
def test_one_package_without_an_answer_is_no_result(program: Path, folder: Path) -> None:
    """As when the index knows nothing of advisories: pip-audit would end with 0."""
    with advisories({"sound": {"skip": "Dependency not found"}}) as (url, _):
        ended = audit(program, folder, url)
    assert ended.returncode == 2 and "1 of 3 packages have no answer" in ended.stderr
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
