"""Each finding opens with its answer, has a date and a command, and is listed; each study says how to run it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from nasbed.studies import STUDIES
from support.documentation import DOCS, page_text

FINDINGS = sorted(path for path in (DOCS / "findings").glob("*.md") if path.stem != "index")
COMMAND = re.compile(r"^ {4,}(?:nasbed|python) \S|`(?:OMP_NUM_THREADS=1 )?python benchmarks/\S+`|`tests/\S+\.py`", re.M)


@pytest.mark.parametrize("path", FINDINGS, ids=lambda path: path.stem)
def test_finding_has_its_answer_first_a_date_and_a_command(path: Path) -> None:
    title, answer, measured, *_ = path.read_text(encoding="utf-8").split("\n\n")
    assert title.startswith("# ") and answer.startswith("**") and answer.endswith("**")
    assert re.match(
        r"Measured in (?:January|February|March|April|May|June|July|August|September|October|November|December) \d{4}\b",
        measured,
    )
    assert COMMAND.search(path.read_text(encoding="utf-8"))


def test_index_of_findings_lists_each_page_once() -> None:
    index = (DOCS / "findings" / "index.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^\| \[[^\]]+\]\(([\w-]+)\.md\) \|", index, flags=re.M)) == [
        path.stem for path in FINDINGS
    ]


def test_page_of_studies_has_each_study_with_its_command() -> None:
    page = page_text("run-studies")
    linked = dict(re.findall(r"^\| \[`([\w-]+)`\]\(([^)]+)\) \|", page, flags=re.M))
    assert sorted(linked) == sorted(STUDIES)
    for name, link in linked.items():
        if link.startswith("#"):
            section = page.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
            assert link == f"#{name}" and re.search(rf"^    nasbed study {name} .*--out \S", section, flags=re.M), name
