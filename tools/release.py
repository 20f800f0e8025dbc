"""Build a release, check it as a user would meet it, and print what to upload. Nothing is uploaded.

``make release`` runs this. It builds the sdist and the wheel into ``dist``, has twine check their pages, installs the
wheel into an empty environment, and runs ``nasbed doctor`` and a comparison there, in an empty folder.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST, PLACE = ROOT / "dist", ROOT / "build" / "release"
TWINE = "twine==7.0.0"


def say(text: str) -> None:
    print(f"release: {text}", flush=True)


def call(*words: str | Path, folder: Path = ROOT) -> None:
    """Run a command, silent unless it fails. It sees neither this checkout's package nor the user's tables."""
    environment = os.environ | {"NASBED_HOME": str(PLACE / "home"), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    environment.pop("PYTHONPATH", None)
    run = subprocess.run(
        [*map(str, words)],
        check=False,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if run.returncode:
        sys.exit(f"{run.stdout}\nrelease: {' '.join(map(str, words))} failed with status {run.returncode}")


def python_of(name: str) -> Path:
    """The interpreter of a new environment."""
    venv.create(PLACE / name, with_pip=True)
    return PLACE / name / ("Scripts" if os.name == "nt" else "bin") / "python"


def version() -> str:
    """The version of the package, which has its notes and its citation."""
    text = (ROOT / "src/nasbed/__init__.py").read_text(encoding="utf-8")
    number = str(*re.findall(r'^__version__ = "(.+)"$', text, flags=re.MULTILINE))
    for file, line in {"CHANGELOG.md": f"## [{number}] - ", "CITATION.cff": f"version: {number}\n"}.items():
        if line not in (ROOT / file).read_text(encoding="utf-8"):
            sys.exit(f"release: {file} has no line {line.strip()!r}; write it first")
    return number


def main() -> None:
    number = version()
    for folder in (DIST, PLACE):
        shutil.rmtree(folder, ignore_errors=True)
    PLACE.mkdir(parents=True)
    say(f"nasbed {number}: building")
    call(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-t", "wheel", "-d", DIST)
    wheel, sdist = DIST / f"nasbed-{number}-py3-none-any.whl", DIST / f"nasbed-{number}.tar.gz"
    say("twine checks what the package's page shows")
    tools = python_of("tools")
    call(tools, "-m", "pip", "install", "--quiet", TWINE)
    call(tools, "-m", "twine", "check", "--strict", sdist, wheel)
    say("an empty environment installs the wheel and runs it")
    fresh, empty = python_of("fresh"), PLACE / "empty"
    empty.mkdir()
    call(fresh, "-m", "pip", "install", "--quiet", "--constraint", ROOT / "constraints.txt", wheel)
    call(fresh, "-m", "nasbed", "doctor", folder=empty)
    call(fresh, "-m", "nasbed", "run", "--seeds", "2", "--budget", "20ev", "--out", "runs", folder=empty)
    status = subprocess.check_output(["git", "status", "--porcelain"], cwd=ROOT, text=True)
    if status:
        say("the checkout has changes that are not committed; commit them and run this again before uploading")
    print("\nBuilt and checked:")
    for file in (sdist, wheel):
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        print(f"  {file.relative_to(ROOT)}  {file.stat().st_size / 1e6:.1f} MB  sha256 {digest}")
    print("\nTo publish, after make thorough has passed:")
    print(f"  git tag v{number} && git push origin v{number}")
    print(f"  {tools.relative_to(ROOT)} -m twine upload {sdist.relative_to(ROOT)} {wheel.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
