"""The explorer's page in one file, opened from disk in a real browser."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from base64 import b64decode, b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

import nasbed
from nasbed.explorer.catalogue import Catalogue
from nasbed.explorer.export import MARKER, write_export
from support.browsers import complaints, open_browser
from support.explorer_pages import Page
from support.tables import nb201_table

PAGE = Path(nasbed.__file__).parent / "explorer" / "page"
HOSTILE = "<img src=x onerror=window.hacked=1></script><script>window.hacked=1</script>"


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("export") / "table"
    nb201_table(folder, share=0.005)
    return folder


@pytest.fixture(scope="module")
def exported(table: Path) -> Path:
    file = table.parent / "page.html"
    write_export(Catalogue(str(table)), file)
    return file


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with open_browser(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


def test_template_is_made_from_the_present_files() -> None:
    """The digest that `make explorer-bundle` wrote into the template is that of the page's files."""
    names = sorted(
        [file.name for file in PAGE.iterdir() if file.suffix in (".js", ".css") or file.name == "index.html"]
        + ["vendor/d3.js", "vendor/LICENSES.txt"]
    )
    parts = [f"{name}\n{(PAGE / name).read_text(encoding='utf-8')}\n" for name in names]
    digest = hashlib.sha256("".join(parts).encode()).hexdigest()
    template = (PAGE / "export.html").read_text(encoding="utf-8")
    assert re.search(r'<meta name="source" content="(\w+)">', template)[1] == digest, "run make explorer-bundle"  # type: ignore[index]
    assert template.count(MARKER) == 1


def test_page_has_no_inline_script_or_style_and_no_other_host() -> None:
    index = (PAGE / "index.html").read_text(encoding="utf-8")
    assert not re.search(r"<style|\sstyle=|\son\w+=|<script(?![^>]* src=)", index)
    for file in [*PAGE.glob("*.js"), PAGE / "index.html", PAGE / "style.css"]:
        content = file.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert "http" not in re.sub(r"https?\b(?!://)", "", content), file.name
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function", content), (
            file.name
        )


@pytest.mark.browser
def test_exported_file_opens_from_disk_and_is_edited(browser: Any, exported: Path, table: Path) -> None:
    benchmark = nasbed.load(table)
    space, objective = benchmark.space, benchmark.objective
    held = list(benchmark.architectures())
    arch, edit = next((arch, edit) for arch in held for edit in space.edits(arch) if benchmark.holds(edit.arch))

    def written(text: str) -> str:
        return f"{benchmark.expected(space.parse(text)).values[objective]:.2f} %"

    page = Page(browser, exported.as_uri())
    page.open(f"z=all&a={quote(space.format(arch))}")
    assert page.chosen() == len(held)
    assert page.value == written(page.text)
    seeds = [title.get_attribute("textContent") for title in page.all(".strip .seed title")]
    assert seeds == [f"{repeat.values[objective]:.2f} %" for repeat in benchmark.repeats(arch)]
    assert len(page.all("#details .curve .dot")) == len(benchmark.fidelities) == 2
    page.find(f"[data-slot='{edit.choice}']").click()
    next(item for item in page.all(".menu [role=menuitem]") if item.text.startswith(edit.after)).click()
    edited = space.format(edit.arch)
    page.wait_for(edited)
    assert page.value == written(edited)
    page.browser.back()
    page.wait_for(space.format(arch))
    assert page.run("return performance.getEntriesByType('resource').map(each => each.name)") == []
    assert complaints(browser) == []


@pytest.mark.browser
def test_rows_without_details_are_drawn_and_edited_too(
    browser: Any, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nasbed.explorer.export.MOST_DETAILED", 10)
    file = table.parent / "few-details.html"
    assert write_export(Catalogue(str(table)), file) == "78 architectures, 10 of them with details"
    benchmark = nasbed.load(table)
    space, objective = benchmark.space, benchmark.objective
    page = Page(browser, file.as_uri())
    names = ["none", "skip_connect", "nor_conv_1x1", "nor_conv_3x3", "avg_pool_3x3"]
    slots = ["1<-0", "2<-0", "2<-1", "3<-0", "3<-1", "3<-2"]
    held = {
        arch: [edit for edit in space.edits(arch) if benchmark.holds(edit.arch)] for arch in benchmark.architectures()
    }
    compared = 0
    for arch, edits in sorted(held.items(), key=lambda each: -len(each[1]))[:4]:
        page.open(f"a={quote(space.format(arch))}")
        boxes = {box.get_attribute("data-slot"): box.text for box in page.all(".cell .node.slot")}
        assert boxes == {slot: names[code] for slot, code in zip(slots, arch.code, strict=True)}
        if "Python" in page.find("#details").text:
            continue
        compared += len(edits)
        values = {(edit.choice, edit.after): benchmark.expected(edit.arch).values[objective] for edit in edits}
        script = "return [...document.querySelectorAll('button.edit[data-slot]')].map(e => [e.dataset.slot, e.dataset.to, e.children[1].textContent])"
        assert {tuple(edit) for edit in page.run(script)} == {
            (*edit, f"{value:.2f} %") for edit, value in values.items()
        }
    assert compared > 2


@pytest.mark.browser
def test_hostile_texts_of_a_file_stay_text(browser: Any, exported: Path, tmp_path: Path) -> None:
    """Every text that a table could bring, replaced by markup: nothing of it becomes an element."""
    content = exported.read_text(encoding="utf-8")
    matched = re.search(r'(<script type="application/octet-stream" id="export">)([^<]*)(</script>)', content)
    assert matched
    data = json.loads(gzip.decompress(b64decode(matched[2])))
    first = str(data["texts"].index(max(data["details"].values(), key=_objective(data))["text"]))
    data["details"] = {first: data["details"][first]}
    kept = {
        "key",
        "kind",
        "type",
        "slot",
        "id",
        "edit",
        "from",
        "to",
        "path",
        "head",
        "fill",
        "points",
        "codes",
        "slots",
        "objective",
        "test",
    }

    def poisoned(value: Any, name: str = "") -> Any:
        if isinstance(value, dict):
            return {key: poisoned(each, key) for key, each in value.items()}
        if isinstance(value, list):
            return [poisoned(each, name) for each in value]
        return HOSTILE + value if isinstance(value, str) and name not in kept else value

    packed = b64encode(gzip.compress(json.dumps(poisoned(data)).encode())).decode()
    file = tmp_path / "hostile.html"
    file.write_text(content.replace(matched[2], packed), encoding="utf-8")
    page = Page(browser, file.as_uri())
    page.open("p=1")
    assert HOSTILE in page.find("#architecture").text + page.find("#details").text
    assert HOSTILE in page.find("#edits").text
    page.find(".node.slot").click()
    assert HOSTILE in page.find(".menu").text
    scripts = "return [window.hacked ?? null, document.querySelectorAll('img').length, document.querySelectorAll('script').length]"
    assert page.run(scripts) == [None, 0, 2]
    assert complaints(browser) == []


def _objective(data: dict[str, Any]) -> Any:
    return lambda details: details["values"][data["benchmark"]["objective"]]["mean"]
