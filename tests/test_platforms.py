"""nasbed where Python has nothing of POSIX: in processes that refuse what Windows refuses, and in the source."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from support.documentation import python_blocks

ROOT = Path(__file__).resolve().parents[1]
SUPPORT = ROOT / "tests" / "support"
SANDBOX = {
    f"challenge/{name}.py" for name in ("isolation", "launcher", "limits", "processes", "root_folder", "sandbox")
}
"""What runs on Linux, or on macOS without isolation."""
POSIX_IMPORT = re.compile(r"^(?:import|from) (?:fcntl|resource|pwd|grp|termios|pty|tty|crypt|syslog)\b", re.MULTILINE)
POSIX_NAME = re.compile(
    r"\bos\.(?:fork|killpg|getpgid|setsid|get(?:e?[ug]id)|nice|uname|sysconf|statvfs|wait(?:pid)?|set_blocking|"
    r"f?chown|mkfifo|sched_\w+|register_at_fork)\b|\bsignal\.(?:SIGKILL|SIGHUP|SIGALRM|SIGUSR\d|SIGPIPE|SIGCHLD|"
    r'setitimer|alarm)\b|"/(?:proc|dev|tmp)\b'
)
TEXT_WITHOUT_ENCODING = re.compile(r"\.read_text\(\)")
CAMPAIGN = """
[campaign]
name = "tiny"
space = "nb201"
trials = 3

[trainer]
kind = "function"
function = "mine.py:score"

[shares]
rs = 1.0
"""


def write_campaign(folder: Path) -> None:
    (folder / "tiny.toml").write_text(CAMPAIGN)
    (folder / "mine.py").write_text("def score(arch, fidelity, seed):\n    return float(sum(arch.code))\n")


def windows_like(*arguments: str, folder: Path) -> str:
    """What Python prints in a process like one on Windows, whose processes are so too."""
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(map(str, (SUPPORT / "windows_like", ROOT / "src", ROOT / "tests"))),
        "WINDOWS_LIKE_ROOT": str(folder.resolve()),
    }
    command = [sys.executable, *arguments]
    run = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", cwd=folder, env=environment)
    assert run.returncode == 0, run.stdout[-4000:] + run.stderr
    return run.stdout


def windows_like_commands(*lines: str, folder: Path) -> list[str]:
    """What commands print, each after a line with its status."""
    printed = windows_like(str(SUPPORT / "windows_like_commands.py"), "\n".join(lines), folder=folder)
    return printed.split("\0")[:-1]


def test_only_the_sandbox_needs_posix() -> None:
    for path in sorted((ROOT / "src" / "nasbed").rglob("*.py")):
        place, source = path.relative_to(ROOT / "src" / "nasbed").as_posix(), path.read_text(encoding="utf-8")
        assert not POSIX_IMPORT.search(source), f"{place} cannot be imported on Windows"
        assert place in SANDBOX | {"challenge/system_calls.py"} or not POSIX_NAME.search(source), place
        assert not TEXT_WITHOUT_ENCODING.search(source), f"{place} reads text in another encoding on Windows"


def test_stand_in_for_windows_refuses_what_windows_refuses(tmp_path: Path) -> None:
    code = """
import sys
from pathlib import Path
source = '''
import os, select, sys
def refused(act, *errors):
    try:
        act()
    except errors or OSError:
        return True
    return False
def folder_open(): os.open(".", os.O_RDONLY)
def pipe_waited(): select.select([os.pipe()[0]], [], [], 0)
def forked(): os.fork
def locked():
    import fcntl
Path("a").touch(); Path("b").touch()
def opened_removed():
    with Path("a").open(): Path("a").unlink()
def opened_replaced():
    with Path("a").open(): Path("b").replace("a")
def read_only_synced():
    with Path("a").open("rb") as file: os.fsync(file.fileno())
def renamed_over(): Path("a").rename("b")
def colon_written(): Path("nb201:mean").write_text("x")
acts = (folder_open, pipe_waited, opened_removed, opened_replaced, read_only_synced, renamed_over, colon_written)
print(all(map(refused, acts)), refused(forked, AttributeError), refused(locked, ImportError), sys.platform)
'''
exec(compile(source, "nasbed_part", "exec"), {"__name__": "nasbed.part", "Path": Path})
"""
    assert windows_like("-c", code, folder=tmp_path).split() == ["True", "True", "True", "win32"]


def test_commands_work_without_posix(tmp_path: Path) -> None:
    write_campaign(tmp_path)
    challenge, explore, listed, query, collect = windows_like_commands(
        "challenge run entry --datasets birds --out scores",
        "explore --help",
        "list spaces",
        "query nb201-chesseract-v1.0 '|none~0|+|none~0|none~1|+|none~0|none~1|none~2|'",
        "collect run tiny.toml --processes 1",
        folder=tmp_path,
    )
    assert re.fullmatch(r"status 2\nnasbed: submissions run on Linux, .*--isolation none; .*\n", challenge)
    assert explore.startswith("status 0\n") and "Usage:" in explore
    assert listed.startswith("status 0\n") and re.search(r"nb201 .*15 625", listed)
    assert "33.33" in query, "without an operation a network guesses among three classes"
    assert collect.startswith("status 0\n") and re.search(r"^rs +3$", collect, re.MULTILINE)


@pytest.mark.thorough
def test_table_is_replaced_without_posix(tmp_path: Path) -> None:
    write_campaign(tmp_path)
    export = "collect export tiny.sqlite --out table"
    _, *exports = windows_like_commands("collect run tiny.toml", export, export, folder=tmp_path)
    assert all(printed.startswith("status 0\n3 rows, 3 architectures in table\n") for printed in exports)
    assert len(list((tmp_path / "table").glob("data-*"))) == 1, "the first is not left behind"


@pytest.mark.thorough
def test_methods_run_in_processes_without_posix(tmp_path: Path) -> None:
    line = "run nb201-chesseract-v1.0 --optimizers rs,re --seeds 2 --budget 5ev --processes 2 --warm-start params:9"
    for _ in range(2):  # the second time its files are replaced
        [run] = windows_like_commands(f"{line} --out runs", folder=tmp_path)
        assert run.startswith("status 0\n")
    names = {path.name for path in (tmp_path / "runs" / "runs").iterdir()}
    assert names == {f"{method}-{seed}.npz" for method in ("rs", "re", "rs+params", "re+params") for seed in (0, 1)}


@pytest.mark.thorough
def test_script_of_the_page_works_and_without_its_guard_is_told_of_it(tmp_path: Path) -> None:
    [script] = python_blocks("platforms")
    (tmp_path / "guarded.py").write_text(script)
    assert windows_like("guarded.py", folder=tmp_path) == "4\n", "two methods with two seeds"
    guard = 'if __name__ == "__main__":'
    unguarded = script.replace(guard, "if True:").replace("len(runs.runs)", "runs.runs[0].error")
    (tmp_path / "unguarded.py").write_text(unguarded)
    assert guard in windows_like("unguarded.py", folder=tmp_path)


@pytest.mark.thorough
def test_characters_that_a_pipe_lacks_are_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "cp1252")
    assert "?-support" in windows_like("-m", "nasbed", "list", "surrogates", folder=tmp_path), "ν-support vectors"


@pytest.mark.thorough
def test_every_module_imports_without_posix(tmp_path: Path) -> None:
    code = (
        "import importlib, pkgutil, nasbed\n"
        "names = [m.name for m in pkgutil.walk_packages(nasbed.__path__, 'nasbed.') if 'kernels' not in m.name]\n"
        "print(sum(bool(importlib.import_module(name)) for name in names if not name.endswith('__main__')))\n"
    )
    assert int(windows_like("-c", code, folder=tmp_path)) > 800
