"""`make package`: build what this machine can build, in dist/, and hold it against the rules of those who take it.

PyInstaller's folder is trimmed and becomes a .deb, a .rpm and a .tar.zst, beside a bill of materials and SHA256SUMS.
Exit status 0 when everything was built and no judge found an error.
"""

import shutil
import subprocess
import sys
from pathlib import Path

from bill_of_materials import bill_of_materials, validate
from judges import judge
from licences import parts_inside
from reproducible import checksums, environment, epoch_of_commit, settle, write_archive
from system_packages import write_packages
from system_tree import NAME, PROGRAMS, Release, write_tree
from trim import trim

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / "build" / "package"
OUT = ROOT / "dist"


def main() -> int:
    """Build everything; the exit status."""
    if shutil.which("dpkg-shlibdeps") is None:
        print("Packages are built on Debian 12, or on a relative of it.", file=sys.stderr)
        return 2
    epoch = epoch_of_commit()
    program, usr = WORK / "folder" / NAME, WORK / "root" / "usr"
    for folder in (WORK / "folder", WORK / "root", OUT):
        shutil.rmtree(folder, ignore_errors=True)
    usr.mkdir(parents=True)
    OUT.mkdir()

    _say("The folder, by PyInstaller")
    _freeze(program.parent, epoch)
    trim(program / "_internal")
    said = subprocess.run([program / "cfbatch", "--version"], env={}, check=True, capture_output=True, text=True).stdout
    version = said.split()[-1]

    _say("Licences and bill of materials")
    parts = parts_inside(program / "_internal")
    bill = bill_of_materials(parts, version, epoch)
    validate(bill)
    release = Release(version, epoch, parts, bill)
    (OUT / f"{NAME}-{version}.cdx.json").write_text(bill, "utf-8")

    _say("Packages and archive")
    write_tree(program, usr, release)
    settle(usr, PROGRAMS, epoch)
    packages = write_packages(usr, OUT, release, environment(epoch))
    name = f"{NAME}-{version}-linux-x86_64"
    write_archive(usr, name, OUT / f"{name}.tar.zst", epoch)
    (OUT / "SHA256SUMS").write_text(checksums(list(OUT.iterdir())), "utf-8")

    complaints = judge(usr, packages)
    installed = sum(path.stat().st_size for path in usr.rglob("*") if path.is_file() and not path.is_symlink())
    for path in sorted(OUT.iterdir()):
        print(f"{path.stat().st_size / 1e6:8.1f} MB  {path.relative_to(ROOT)}")
    print(f"{installed / 1e6:8.1f} MB  installed")
    return 1 if complaints else 0


def _freeze(out: Path, epoch: int) -> None:
    command = [sys.executable, "-m", "PyInstaller", "--noconfirm", "--clean", "--log-level", "WARN"]
    command += ["--distpath", str(out), "--workpath", str(WORK / "work"), str(ROOT / "packaging" / "cfbatch.spec")]
    subprocess.run(command, cwd=ROOT, env=environment(epoch), check=True)


def _say(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
