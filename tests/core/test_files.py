"""Files that are there whole or not at all."""

from pathlib import Path

import pytest

from nasbed.core.files import complete_file


def test_complete_file_appears_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    with complete_file(path) as draft:
        draft.write_text("new")
        assert not path.exists()
    assert path.read_text() == "new" and len(list(tmp_path.iterdir())) == 1


def test_complete_file_keeps_the_old_one_on_failure(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(RuntimeError), complete_file(path) as draft:
        draft.write_text("half")
        raise RuntimeError
    assert path.read_text() == "old" and len(list(tmp_path.iterdir())) == 1
