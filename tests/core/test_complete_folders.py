"""Folders are complete or absent, and what a killed process left goes away."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from nasbed.core import files
from nasbed.core.files import DRAFT, complete_folder

needs_locks = pytest.mark.skipif(sys.platform == "win32", reason="drafts are removed where folders can be locked")

WRITER = """
import sys, time
from pathlib import Path
from nasbed.core.files import complete_folder
with complete_folder(Path(sys.argv[1])) as draft:
    (draft / "part").mkdir()
    (draft / "part" / "secret").write_text("42")
    print("written", flush=True)
    sys.stdin.read()
"""


def writer(folder: Path) -> subprocess.Popen[str]:
    """A process that has written to the draft of a folder and waits for the end of its input."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None and process.stdout.readline() == "written\n"
    return process


def drafts(folder: Path) -> list[Path]:
    return list(folder.glob(f"{DRAFT}*"))


def test_folder_appears_when_its_block_ends_well(tmp_path: Path) -> None:
    with complete_folder(tmp_path / "a" / "b") as draft:
        (draft / "file").write_text("text")
        assert not (tmp_path / "a" / "b").exists()
    assert (tmp_path / "a" / "b" / "file").read_text() == "text" and not drafts(tmp_path / "a")


def test_folder_is_absent_and_its_draft_removed_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), complete_folder(tmp_path / "new") as draft:
        (draft / "file").touch()
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [(), ("theirs",)])
def test_folder_that_came_into_being_meanwhile_is_kept(tmp_path: Path, content: tuple[str, ...]) -> None:
    folder = tmp_path / "new"
    with pytest.raises(FileExistsError), complete_folder(folder) as draft:
        (draft / "ours").touch()
        folder.mkdir()
        for name in content:
            (folder / name).touch()
    assert [path.name for path in tmp_path.rglob("*")] == ["new", *content]


@needs_locks
def test_draft_of_a_killed_process_is_removed_by_the_next_that_writes_there(tmp_path: Path) -> None:
    process = writer(tmp_path / "first")
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert [path.read_text() for path in tmp_path.glob(f"{DRAFT}*/part/secret")] == ["42"]
    with complete_folder(tmp_path / "second"):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["second"]


def test_files_and_folders_of_the_user_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / ".draft-of-mine").mkdir()
    (tmp_path / f"{DRAFT}file").write_text("not a folder")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "kept").touch()
    (tmp_path / f"{DRAFT}link").symlink_to(tmp_path / "elsewhere")
    before = sorted(tmp_path.rglob("*"))
    with complete_folder(tmp_path / "new"):
        pass
    assert sorted(tmp_path.rglob("*")) == sorted([*before, tmp_path / "new"])


def test_draft_of_a_process_at_work_is_left_alone(tmp_path: Path) -> None:
    process = writer(tmp_path / "first")
    with complete_folder(tmp_path / "second"):
        assert len(drafts(tmp_path)) == 2
    process.communicate("")
    assert process.returncode == 0 and (tmp_path / "first" / "part" / "secret").read_text() == "42"
    assert not drafts(tmp_path)


def test_draft_is_held_until_it_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another command looks for abandoned drafts in the last moment."""
    rename = files._rename

    def rename_beside_another_writer(draft: Path, folder: Path) -> None:
        if folder.name == "first":
            with complete_folder(tmp_path / "second"):
                pass
        rename(draft, folder)

    monkeypatch.setattr(files, "_rename", rename_beside_another_writer)
    with complete_folder(tmp_path / "first") as draft:
        (draft / "file").touch()
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "first", "second"]
