"""What is written for systems that are not at hand: each file is read, and what it names is there.

That it builds there is not known; packaging/README.md says so.
"""

import importlib.util
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "packaging"
WORKFLOW = ROOT / ".github" / "workflows" / "release.yml"
MADE = {"packaging/flatpak/cfbatch.tar.zst"}  # by the workflow itself


def part(name: str) -> ModuleType:
    """A module of packaging/, whose name is that of a package too."""
    spec = importlib.util.spec_from_file_location(f"cfbatch_{name}", PACKAGING / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


manifests, native_details = part("manifests"), part("native_details")
SUFFIXES = {suffix for suffixes in native_details.OPENED.values() for suffix in suffixes}


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text("utf-8"))


def steps() -> Iterator[tuple[str, dict[str, Any]]]:
    for name, job in read(WORKFLOW)["jobs"].items():
        for step in job["steps"]:
            yield name, step


def scripts() -> list[str]:
    return [step["run"] for _, step in steps() if "run" in step]


@pytest.mark.parametrize(
    "path", sorted((*ROOT.glob(".github/**/*.yml"), *PACKAGING.glob("**/*.y*ml"))), ids=lambda path: path.name
)
def test_every_yaml_file_is_read_and_says_that_it_is_untried(path: Path) -> None:
    assert isinstance(read(path), dict)
    if path.parent.name != "winget":  # which become the manifests as they stand
        assert "*Untried here*" in path.read_text("utf-8").partition("\n\n")[0]


@pytest.mark.parametrize("script", scripts())
def test_every_script_of_the_workflow_is_one_of_the_shell(script: str) -> None:
    checked = subprocess.run(["bash", "-n"], input=script, text=True, capture_output=True, check=False)
    assert (checked.returncode, checked.stderr) == (0, "")
    assert "${{" not in script, "what comes from outside reaches a script by its environment only"


def test_the_workflow_may_do_little_and_takes_nothing_that_can_change() -> None:
    workflow = read(WORKFLOW)
    assert workflow["permissions"] == {"contents": "read"}
    assert [name for name, job in workflow["jobs"].items() if "permissions" in job] == ["publish"]
    used = re.findall(r"uses: (\S+)(.*)", WORKFLOW.read_text("utf-8"))
    assert used and all(re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40}", each) for each, _ in used)
    assert all(re.fullmatch(r" # v\d+\.\d+\.\d+", words) for _, words in used)
    assert len(set(used)) == len({each.partition("@")[0] for each, _ in used}), "one version of each"
    assert set(workflow["jobs"]["publish"]["needs"]) == workflow["jobs"].keys() - {"publish"}
    for _, step in steps():
        if step.get("uses", "").startswith("actions/checkout"):
            assert step["with"]["persist-credentials"] is False


def test_every_file_that_is_named_is_in_the_repository() -> None:
    texts = [*scripts(), (PACKAGING / "macos" / "sign-and-notarise.sh").read_text("utf-8")]
    named = {
        found.replace("\\", "/")
        for text in texts
        for found in re.findall(r"\b(?:packaging|scripts|requirements)[/\\][\w./\\-]+", text)
    }
    assert len(named) > 8
    assert [each for each in sorted(named - MADE) if not (ROOT / each).is_file()] == []


@pytest.mark.parametrize("path", sorted(PACKAGING.glob("*/*.sh")), ids=lambda path: path.name)
def test_every_script_is_one_of_the_shell_and_may_be_run(path: Path) -> None:
    assert subprocess.run(["bash", "-n", path], capture_output=True, check=False).stderr == b""
    assert path.stat().st_mode & 0o111 and "*Untried here*" in path.read_text("utf-8")[:300]


def test_the_installer_for_windows_offers_the_program_for_every_suffix_and_leaves_the_data() -> None:
    script = (PACKAGING / "windows" / "cfbatch.iss").read_text("utf-8-sig")
    assert set(re.findall(r'SupportedTypes"; ValueType: string; ValueName: "\.(\w+)"', script)) == SUFFIXES
    assert not re.search(r"CF Batch\\?\"?; Type|UninstallDelete", script)


# winget and Homebrew

REQUIRED = {
    "version": {"DefaultLocale"},
    "installer": {"Installers"},
    "defaultLocale": {"PackageLocale", "Publisher", "PackageName", "License", "ShortDescription"},
    "locale": {"PackageLocale"},
}


def test_the_manifests_are_filled_in() -> None:
    names = [manifests.WINDOWS.format(version="1.2.3")]
    names += [manifests.MACOS.format(version="1.2.3", architecture=each) for each in ("arm64", "x86_64")]
    sums = "".join(f"{number:064x}  dist/{name}\n" for number, name in enumerate(names, 10))
    texts = manifests.filled("1.2.3", manifests.read_sums(sums))
    assert len(texts) == 5 and not [text for text in texts.values() if re.search(r"@[A-Z]", text)]
    kinds = []
    for name, text in texts.items():
        if not name.endswith(".yaml"):
            continue
        manifest = yaml.safe_load(text)
        kinds.append(manifest["ManifestType"])
        assert REQUIRED[kinds[-1]] | {"PackageIdentifier", "PackageVersion", "ManifestVersion"} <= manifest.keys()
        assert manifest["PackageVersion"] == "1.2.3" and manifest["ManifestVersion"] == "1.6.0"
    assert sorted(kinds) == sorted(REQUIRED)
    (installer,) = yaml.safe_load(texts["CFBatch.CFBatch.installer.yaml"])["Installers"]
    assert installer["InstallerSha256"] == f"{10:064X}" and installer["InstallerUrl"].endswith(f"/v1.2.3/{names[0]}")
    assert f'arm:   "{11:064x}"' in texts["cfbatch.rb"] and f'intel: "{12:064x}"' in texts["cfbatch.rb"]
    with pytest.raises(KeyError):
        manifests.filled("1.2.4", manifests.read_sums(sums))
    with pytest.raises(ValueError, match="no checksum"):
        manifests.read_sums("0.1.0 cfbatch.exe")


# The built program


def submodules(name: str) -> list[str]:
    """As PyInstaller's function of that name: the package and all that is in it; nothing where it is not installed."""
    found = importlib.util.find_spec(name)
    if found is None:
        return []
    within = pkgutil.walk_packages(found.submodule_search_locations, f"{name}.", onerror=lambda _: None)
    return [name, *(each.name for each in within)]


@pytest.mark.parametrize("platform", ["linux", "win32", "darwin"])
def test_the_spec_names_the_keyrings_of_every_system(
    platform: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Recorder:
        """Stands in for each of PyInstaller's steps."""

        def __init__(self, *arguments: Any, **options: Any) -> None:
            calls.append((arguments, options))
            nothing: list[Any] = []
            self.pure = self.scripts = self.binaries = self.datas = nothing

    calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = []
    hooks = ModuleType("hooks")
    vars(hooks).update(collect_data_files=lambda name: [], collect_submodules=submodules, copy_metadata=lambda name: [])
    for name in ("PyInstaller", "PyInstaller.utils"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, "PyInstaller.utils.hooks", hooks)
    icon = SimpleNamespace(render_icon=lambda *arguments: tmp_path / "icon.png")
    monkeypatch.setitem(sys.modules, "icon", icon)  # the real one needs an application of Qt's
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(sys, "path", sys.path.copy())
    steps_of_spec = dict.fromkeys(("Analysis", "PYZ", "EXE", "COLLECT", "BUNDLE"), Recorder)
    code = (PACKAGING / "cfbatch.spec").read_text("utf-8")
    given = {"SPECPATH": str(PACKAGING), "workpath": str(tmp_path)}
    exec(compile(code, "cfbatch.spec", "exec"), {**given, **steps_of_spec})
    (options,) = (options for _, options in calls if "hiddenimports" in options)  # of both programs
    backends = {"SecretService", "libsecret", "kwallet", "macOS", "Windows", "chainer", "fail", "null"}
    assert {f"keyring.backends.{name}" for name in backends} <= set(options["hiddenimports"])
    assert {"arro3.core", "arro3.io", "wordllama", "cfbatch_gui.cli.main"} <= set(options["hiddenimports"])
    programs = [options for _, options in calls if "console" in options]
    assert [(each["name"], each["console"]) for each in programs] == [("cfbatch-gui", False), ("cfbatch", True)]
    assert all(Path(each["version"]).is_file() for each in programs if platform == "win32")
    assert all("version" not in each for each in programs if platform != "win32")
    assert [options["info_plist"] for _, options in calls if "info_plist" in options] == (
        [native_details.info_plist()] if platform == "darwin" else []
    )
