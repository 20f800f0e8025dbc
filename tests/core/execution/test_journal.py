"""Journals of tasks: what they hold after a kill, a second process, other inputs, and an older version."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from nasbed.core.errors import BadFile, DiskFull, InvalidOption
from nasbed.core.execution.journal import (
    JournalLines,
    SharedJournal,
    TaskJournal,
    append_line,
    check_same_inputs,
    read_lines,
)

INPUTS = {"power": 2, "settings": {"base": 10}}
WRITER = """
import sys
from pathlib import Path
from nasbed.core.execution.journal import TaskJournal
with TaskJournal(Path(sys.argv[1]), {"power": 2, "settings": {"base": 10}}) as journal:
    journal.record(("first", 1), 1)
    print("recorded", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "new" / "results.journal"


def entries(path: Path) -> dict[Any, Any]:
    with TaskJournal[Any, Any](path, INPUTS) as journal:
        return dict(journal.items())


def test_journal_holds_results_by_their_keys(path: Path) -> None:
    with TaskJournal[Any, Any](path, INPUTS) as journal:
        assert journal.is_new and not len(journal)
        journal.record("a", {"score": 0.5})
        journal.record(("b", (1, 2)), None)
        journal.record("a", {"score": 0.7})
        assert "a" in journal and "c" not in journal
    with TaskJournal[Any, Any](path, INPUTS) as journal:
        assert not journal.is_new
        assert dict(journal.items()) == {"a": {"score": 0.7}, ("b", (1, 2)): None}


def test_journal_leaves_nothing_beside_itself(path: Path) -> None:
    with TaskJournal[Any, Any](path, INPUTS) as journal:
        journal.record("a", 1)
    assert list(path.parent.iterdir()) == [path]
    with TaskJournal[Any, Any](path, INPUTS) as journal:
        journal.remove()
    assert list(path.parent.iterdir()) == []


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        (INPUTS | {"power": 3}, "holds results with power 2, not 3; choose another file"),
        (INPUTS | {"settings": {"base": 2}}, "holds results with settings base 10, not 2; choose another file"),
        (INPUTS | {"more": 1}, "holds results with more None, not 1; choose another file"),
    ],
)
def test_journal_of_other_inputs_is_refused_and_left_alone(path: Path, inputs: dict[str, Any], message: str) -> None:
    entries(path)
    before = path.read_bytes()
    with pytest.raises(InvalidOption, match=message):
        TaskJournal[Any, Any](path, inputs)
    assert path.read_bytes() == before
    assert entries(path) == {}, "the refusal holds no lock"


def test_every_cut_of_a_journal_holds_the_results_before_it(path: Path) -> None:
    """A kill may leave any number of its bytes."""
    with TaskJournal[Any, Any](path, INPUTS) as journal:
        for number in range(3):
            journal.record(number, number**2)
    content = path.read_bytes()
    begin = content.index(b"\n") + 1
    for cut in range(begin, len(content) + 1):
        path.write_bytes(content[:cut])
        expected = {n: n**2 for n in range(content[:cut].count(b"}\n") + content[:cut].endswith(b"}") - 1)}
        with TaskJournal[Any, Any](path, INPUTS) as journal:
            assert dict(journal.items()) == expected
            journal.record("next", 0)
        assert entries(path) == expected | {"next": 0}


@pytest.mark.parametrize("tail", [b"{", b'{"key": 1, "resu', b"\0\0\0"])
def test_lines_after_a_cut_are_whole(path: Path, tail: bytes) -> None:
    with JournalLines(path) as journal:
        journal.add({"one": 1})
    path.write_bytes(path.read_bytes() + tail)
    with JournalLines(path) as journal:
        journal.add({"two": 2})
        assert journal.lines == [{"one": 1}, {"two": 2}]
    assert path.read_bytes() == b'{"one": 1}\n{"two": 2}\n'


@pytest.mark.parametrize("content", [b"text\n", b"text", b"3\n", b'{"one": 1}\n[2]\n'])
def test_file_of_another_kind_is_refused_and_left_alone(path: Path, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(BadFile, match=rf"results.journal, line {content.count(b'one') + 1}, is not a JSON object"):
        JournalLines(path)
    assert path.read_bytes().rstrip() == content.rstrip()


@pytest.mark.parametrize("line", [{"mine": 1}, {"key": "a", "result": 1}])
def test_journal_of_another_kind_is_refused(path: Path, line: dict[str, Any]) -> None:
    path.parent.mkdir()
    path.write_text(json.dumps(line) + "\n")
    with pytest.raises(
        BadFile, match="line 1, is not one of a journal of results: 'inputs'; delete it and start again"
    ):
        TaskJournal[Any, Any](path, INPUTS)


@pytest.mark.kill
def test_second_process_is_refused_and_a_killed_one_frees_the_journal(path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None and process.stdout is not None
    try:
        assert process.stdout.readline() == "recorded\n"
        with pytest.raises(InvalidOption) as refusal:
            entries(path)
        assert str(refusal.value) == (
            f"{path} is written by one process at a time, another has it open; wait or use another folder"
        )
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()
    assert entries(path) == {("first", 1): 1}


def test_line_is_appended_by_several_processes(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    code = (
        "import sys\nfrom pathlib import Path\nfrom nasbed.core.execution.journal import append_line\n"
        "for number in range(30): append_line(Path(sys.argv[1]), {'writer': int(sys.argv[2]), 'number': number})\n"
    )
    writers = [subprocess.Popen([sys.executable, "-c", code, str(path), str(writer)]) for writer in range(3)]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    lines = [json.loads(line) for line in read_lines(path)]
    assert sorted((line["writer"], line["number"]) for line in lines) == [(w, n) for w in range(3) for n in range(30)]
    assert list(tmp_path.iterdir()) == [path]


def shared(path: Path) -> SharedJournal[str, int]:
    stored = [json.loads(line) for line in read_lines(path)] if path.exists() else []
    return SharedJournal(
        path, ((line["name"], line["value"]) for line in stored), lambda name, value: {"name": name, "value": value}
    )


def test_shared_journal_keeps_the_results_of_all_its_writers(tmp_path: Path) -> None:
    path = tmp_path / "new" / "lines.jsonl"
    first, second = shared(path), shared(path)
    first.record("a", 1)
    second.record("b", 2)
    assert "a" in first and "a" not in second, "it does not see what others add"
    assert path.read_text() == '{"name": "a", "value": 1}\n{"name": "b", "value": 2}\n'
    assert dict(shared(path).items()) == {"a": 1, "b": 2}


def test_line_that_cannot_be_written_is_in_the_error(tmp_path: Path) -> None:
    with pytest.raises(DiskFull, match=r"could not be added to .*: Is a directory; the line is: \{\"own\": 1\}$"):
        append_line(tmp_path, {"own": 1})


def test_appended_line_completes_a_file_without_a_last_newline(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_text('{"mine": 1}')
    append_line(path, {"own": "ä"})
    assert read_lines(path) == ['{"mine": 1}', '{"own": "ä"}']
    path.write_text("no line of ours, without an end")
    append_line(path, {"own": 2})
    assert read_lines(path) == ["no line of ours, without an end", '{"own": 2}'], "what is no cut line is kept"


def test_inputs_that_were_not_recorded_are_taken_as_equal_if_optional() -> None:
    check_same_inputs("it", {"a": 1}, {"a": 1, "b": 2}, remedy="stop", optional=("b",))
    with pytest.raises(InvalidOption, match=r"^it with b None, not 2; stop$"):
        check_same_inputs("it", {"a": 1}, {"a": 1, "b": 2}, remedy="stop")
    with pytest.raises(InvalidOption, match=r"^it with another b; stop$"):
        check_same_inputs("it", {"b": 1}, {"b": 2}, remedy="stop", optional=("b",), differences={"b": "another b"})
