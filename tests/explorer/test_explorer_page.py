"""The explorer's page in a real browser, served and in one file, against what Python says of the same benchmark."""

from __future__ import annotations

import gzip
import json
import re
import shutil
from base64 import b64decode, b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest

import nasbed
from nasbed.explorer.catalogue import Catalogue
from nasbed.explorer.export import write_export
from nasbed.results import Rows, TableInfo, write_results
from support.browsers import complaints, open_browser
from support.explorer_pages import Page
from support.explorers import serving
from support.tables import VALIDATION, nb201_table

TABLE = "nb201-cifar10-16-v1.0"
START = "|skip_connect~0|+|none~0|nor_conv_1x1~1|+|none~0|avg_pool_3x3~1|nor_conv_3x3~2|"
HOSTILE = "<img src=x onerror=window.hacked=1></script><script>window.hacked=1</script>"
pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with open_browser(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture(scope="module")
def darts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small table of DARTS cells, which are written as genotypes."""
    folder = tmp_path_factory.mktemp("darts") / "table"
    rng, cells = np.random.default_rng(0), nasbed.space("darts")
    codes = cells.codes([cells.sample(rng) for _ in range(40)])
    values = {VALIDATION.key: 90 + rng.normal(size=len(codes))}
    rows = Rows.of(codes, values, fidelity=8, seed=0, train_time_s=10.0)
    write_results(folder, TableInfo("generated/darts", "darts", (VALIDATION,)), [rows])
    return folder


@pytest.fixture(scope="module")
def page(browser: Any, darts: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """The page, which the small table opens with; views name the other one."""
    folder = tmp_path_factory.mktemp("searches") / "two-methods"
    nasbed.compare(TABLE, ["rs", "re"], seeds=2, budget="15ev", out=folder, progress=False)
    unfinished, foreign = folder.parent / "unfinished", folder.parent / "foreign"
    for other, benchmark in ((unfinished, TABLE), (foreign, "nb101-108")):
        (other / "runs").mkdir(parents=True)
        setup = json.loads((folder / "setup.json").read_text(encoding="utf-8"))
        (other / "setup.json").write_text(json.dumps(setup | {"benchmark": benchmark}), encoding="utf-8")
    shutil.copy(folder / "runs" / "rs-0.npz", foreign / "runs")
    with serving(Catalogue(str(darts)), runs=(folder, unfinished, foreign)) as running:
        yield Page(browser, f"http://127.0.0.1:{running.port}/", benchmark=TABLE)


@pytest.fixture(autouse=True)
def no_complaints(browser: Any) -> Iterator[None]:
    """No test leaves a warning or an error on the console, other than those that the browser adds to refused requests."""
    yield
    assert [each for each in complaints(browser) if each["source"] != "network"] == []


class Truth:
    """What Python says of the table."""

    def __init__(self) -> None:
        self.table = nasbed.load(TABLE)
        self.space = self.table.space
        codes = self.space.codes(list(self.space.enumerate()))
        self.texts = self.space.texts(codes)
        self.parameters = np.asarray(self.space.costs(codes)[:, 0], dtype=np.float64)
        self.accuracy = np.asarray(self.table.expected_many(codes).column(self.table.objective), dtype=np.float64)

    def written(self, text: str) -> str:
        """The value of an architecture as the page writes it."""
        return f"{self.table.expected(self.space.parse(text)).values[self.table.objective]:.2f} %"


@pytest.fixture(scope="module")
def truth() -> Truth:
    return Truth()


@pytest.fixture(scope="module")
def small_table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("export") / "table"
    nb201_table(folder, share=0.005)
    return folder


@pytest.fixture(scope="module")
def exported(small_table: Path) -> Path:
    file = small_table.parent / "page.html"
    write_export(Catalogue(str(small_table)), file)
    return file


def test_overview_shows_the_whole_table(page: Page, truth: Truth) -> None:
    page.open("z=all")
    assert page.chosen() == 5**6
    values = truth.accuracy
    assert f"best {values.max():.2f} %, mean {values.mean():.2f} %" in page.find("#summary").text
    assert page.text == truth.texts[int(values.argmax())]


def test_click_on_a_point_opens_its_architecture(page: Page, truth: Truth) -> None:
    from selenium.webdriver.common.action_chains import ActionChains

    page.open()
    before = page.text
    ActionChains(page.browser).move_to_element_with_offset(page.find("#plot"), -60, -120).click().perform()
    page.find(f"#architecture[data-ready]:not([data-ready='{before}'])")
    page.paint()
    assert page.value == truth.written(page.text)
    place = page.find(".ring.shown").rect
    box = page.find("#plot").rect
    distance = np.hypot(
        place["x"] + place["width"] / 2 - (box["x"] + box["width"] / 2 - 60),
        place["y"] + place["height"] / 2 - (box["y"] + box["height"] / 2 - 120),
    )
    assert distance < 30


def test_edit_on_the_drawing_changes_the_value_to_that_of_a_query(page: Page, truth: Truth) -> None:
    page.open(f"a={quote(START)}")
    assert page.value == truth.written(START)
    page.find("[data-slot='2<-0']").click()
    items = page.all(".menu [role=menuitem]")
    assert sorted(item.text.split("\n")[0] for item in items) == sorted(
        set(truth.space.operations.names) - {"none"}  # type: ignore[union-attr]
    )
    edited = START.replace("+|none~0|nor_conv_1x1~1|", "+|nor_conv_3x3~0|nor_conv_1x1~1|")
    item = next(item for item in items if item.text.startswith("nor_conv_3x3"))
    assert truth.written(edited) in item.text
    item.click()
    page.wait_for(edited)
    assert page.value == truth.written(edited) != truth.written(START)
    assert page.run("return document.activeElement.dataset.slot") == "2<-0"
    page.browser.back()
    page.wait_for(START)
    assert page.value == truth.written(START)


def test_best_edits_are_listed_first_and_the_walk_ends_where_none_improves(page: Page, truth: Truth) -> None:
    page.open(f"a={quote(START)}")
    space, start = truth.space, truth.space.parse(START)
    values = [truth.written(space.format(edit.arch)) for edit in space.edits(start)]
    assert len(values) == 6 * 4
    assert page.find(".edits .after").text == max(values, key=lambda words: float(words.split()[0]))
    page.find("#uphill").click()
    page.find(".steps [aria-current]")
    top = page.run("return [...document.querySelectorAll('.steps .after')].at(-1).textContent")
    page.find(".walk")
    assert "0 of 24 legal edits improve it" in page.find("#edits-note").text
    assert top == page.value == truth.written(page.text)


def test_pasted_genotype_opens_and_a_wrong_one_says_what_python_says(page: Page, darts: Path) -> None:
    page.open(f"b={quote(str(darts))}")
    table = nasbed.load(darts)
    arch = list(table.architectures())[7]
    genotype = str(table.space.to_native(arch))
    assert genotype.startswith("Genotype(normal=[(")
    box = page.find("#text")
    box.send_keys(genotype, "\n")
    page.wait_for(table.space.format(arch))
    assert page.value == f"{table.expected(arch).values[table.objective]:.2f} %"
    assert len(page.all(".drawing .cell")) == 2
    wrong = genotype.replace("_conv_3x3", "_conv_9x9")
    box.clear()
    box.send_keys(wrong, "\n")
    with pytest.raises(nasbed.NasbedError) as error:
        table.space.parse(wrong)
    assert page.find("#error:not([hidden])").text == " ".join(str(error.value).split())
    assert page.text == table.space.format(arch)


def test_filter_leaves_the_architectures_that_fulfil_it(page: Page) -> None:
    page.open("z=all&f=count:none,0,0")
    assert page.chosen() == 4**6
    assert page.find(".filter output").text == "0"
    page.find(".filter button").click()
    page.find("#plot[data-chosen='15625']")


def test_brush_and_front_are_those_of_the_values(page: Page, truth: Truth) -> None:
    from selenium.webdriver.common.action_chains import ActionChains

    page.open("z=all&p=1")
    accuracy, parameters = truth.accuracy, truth.parameters
    best, front = -np.inf, 0
    for _, value in sorted(zip(parameters, -accuracy, strict=True)):
        if -value > best:
            best, front = -value, front + 1
    assert len(page.all(".front-point")) == front
    mouse = ActionChains(page.browser).move_to_element_with_offset(page.find("#plot"), -200, -150)
    mouse.click_and_hold().move_by_offset(220, 90).release().perform()
    page.find("#clear:not([hidden])")
    low, high = page.run("return new URLSearchParams(location.hash.slice(1)).get('r').split(',').slice(2).map(Number)")
    tall = np.count_nonzero((accuracy >= low) & (accuracy <= high))
    assert 0 < page.chosen() <= tall
    page.find("#plot").click()
    page.press("\ue00c")  # Escape
    page.find("#plot[data-chosen='15625']")


def test_axes_and_colours_take_any_column(page: Page) -> None:
    page.open("x=proxy:synflow&y=test_accuracy&c=train_time_s&ys=log")
    titles = [each.text for each in page.all("#plot .title")]
    assert titles == ["synflow", "test accuracy (%)"]
    assert page.find("#legend").text.startswith("training time")
    assert page.find("#y-log").get_attribute("aria-pressed") == "true"


def test_keyboard_alone_finds_opens_edits_and_undoes(page: Page, truth: Truth) -> None:
    up, end, enter, escape, down = "\ue013", "\ue010", "\ue007", "\ue00c", "\ue015"
    page.open(f"a={quote(START)}&z=all")
    page.press("o", end)
    values = np.sort(truth.accuracy)
    assert (
        page.find("#live")
        .get_attribute("textContent")
        .startswith(f"1 of 15\u202f625: validation accuracy {values[-1]:.2f} %")
    )
    page.press(down)
    assert f"accuracy {values[-2]:.2f} %" in page.find("#live").get_attribute("textContent")
    page.press(up, enter)
    best = f"{values[-1]:.2f} %"
    page.find(f"#architecture[data-ready]:not([data-ready='{START}'])")
    assert page.value == best
    best_text = page.text
    page.press("e", enter, down, enter)
    page.find(f"#architecture[data-ready]:not([data-ready='{best_text}'])")
    assert page.value == truth.written(page.text) != best
    page.run("document.activeElement.blur()")
    page.press("?")
    assert page.find("dialog[open]").text.startswith("Keys")
    page.press(escape)
    page.run("window.dispatchEvent(new KeyboardEvent('keydown', {key: 'z', ctrlKey: true}))")
    page.wait_for(best_text)
    assert page.value == best


def test_same_architecture_across_datasets(page: Page, truth: Truth) -> None:
    page.open(f"a={quote(START)}")
    rows = page.all("#across tbody tr")
    shown = {row.get_attribute("data-benchmark"): row.text for row in rows}
    assert truth.written(START) in shown[TABLE]
    other = nasbed.load("nb201-addnist-v1.0")
    value = other.expected(other.space.parse(START)).values[other.objective]
    assert f"{value:.2f} %" in shown["nb201-addnist-v1.0"]
    everything = np.asarray(
        other.expected_many(other.space.codes(list(other.space.enumerate()))).column(other.objective)
    )
    rank = str(1 + np.count_nonzero(everything > value))
    assert shown["nb201-addnist-v1.0"].replace("\u202f", "").split()[-1] == rank


def test_searches_show_what_each_run_had_found_by_a_time(page: Page) -> None:
    page.open("s=two-methods")
    assert len(page.all(".standings tbody tr")) == 2
    assert page.all(".search-path") and page.all(".incumbent-mark")
    assert len(page.all(".side-run")) == 2
    cells = [each.text.replace("\u202f", "") for each in page.all(".standings tbody td:nth-child(3)")]
    assert cells == ["30", "30"]
    page.run("const time = document.getElementById('time'); time.value = 0; time.dispatchEvent(new Event('input'))")
    assert [each.text for each in page.all(".standings tbody td:nth-child(3)")] == ["0", "0"]
    assert not page.browser.execute_script("return document.querySelector('.incumbent-mark')")
    page.find("#play").click()
    page.find(".incumbent-mark")


@pytest.mark.parametrize(
    ("folder", "words"),
    [
        ("unfinished", "No run of this folder is finished."),
        (
            "foreign",
            "These runs are on nb101-108, which is not here; get it, then start: nasbed explore nb101-108 --runs",
        ),
    ],
)
def test_folder_without_runs_to_draw_says_why(page: Page, folder: str, words: str) -> None:
    page.open()
    page.run("const list = document.getElementById('folder'); list.value = arguments[0];"
             "list.dispatchEvent(new Event('change'))", folder)  # fmt: skip
    assert page.find(".searches-body .caption").text.startswith(words)
    assert page.find("html").get_attribute("data-shown") == TABLE
    assert page.find("#error").get_attribute("hidden")


def test_two_tabs_do_not_share_a_view(page: Page, truth: Truth) -> None:
    page.open(f"a={quote(START)}")
    first = page.browser.current_window_handle
    page.browser.switch_to.new_window("tab")
    other = START.replace("|none~0|avg", "|skip_connect~0|avg")
    page.open(f"a={quote(other)}&x=train_time_s")
    assert page.value == truth.written(other)
    page.browser.close()
    page.browser.switch_to.window(first)
    assert page.text == START and page.value == truth.written(START)


def test_page_fits_a_phone(page: Page) -> None:
    page.open("f=count:none,0,3;parameters,80000,300000&p=1&c=proxy:synflow&s=two-methods", width=390)
    assert page.run("return document.documentElement.scrollWidth") == 390
    page.find(".slot").click()
    menu = page.find(".menu").rect
    assert menu["x"] >= 0 and menu["x"] + menu["width"] <= 390


@pytest.mark.parametrize("keys", ["a", "b", "cxyfsrzt"])
def test_hostile_address_stays_text(page: Page, keys: str) -> None:
    view = "&".join(f"{key}={quote(HOSTILE)}" for key in keys)
    page.browser.get("about:blank")
    page.browser.get(f"{page.address}#{view if keys == 'b' else f'b={TABLE}&{view}'}")
    page.find("#error:not([hidden])" if keys in "ab" else "#architecture[data-ready]")
    assert page.run("return [window.hacked ?? null, document.querySelectorAll('img, script').length]") == [None, 1]


def test_link_to_a_benchmark_that_is_not_here_opens_the_default_one(page: Page, darts: Path) -> None:
    page.open("b=not-here&x=parameters&a=nothing")
    assert page.find("html").get_attribute("data-shown") == str(darts)
    assert page.find("#error").text == "No benchmark is called not-here here; choose one from the list."
    page.run("const list = document.getElementById('benchmark'); list.value = arguments[0];"
             "list.dispatchEvent(new Event('change'))", TABLE)  # fmt: skip
    page.find(f"html[data-shown='{TABLE}']")


def test_view_of_numbers_that_are_none_is_drawn_like_one_without_them(page: Page) -> None:
    page.open("f=%25,1,2&z=1e308,-1e308,1e308,-1e308&r=9e307,-9e307,1,1&s=two-methods&sa=__proto__&sb=length")
    shown = page.chosen()
    page.open()
    assert shown == page.chosen() > 0


LATE = """
const fetched = window.fetch;
window.fetch = async (address, ...others) => {
  const answer = await fetched(address, ...others);
  if (String(address).includes(arguments[0])) await new Promise((done) => (window.held ??= []).push(done));
  return answer;
};"""


def test_answers_that_come_late_do_not_replace_what_was_asked_for_since(page: Page, truth: Truth, darts: Path) -> None:
    """Each answer waits in the page until the reader has gone on."""
    go = "const list = document.getElementById('benchmark'); list.value = arguments[0]; list.dispatchEvent(new Event('change'))"
    paste = "document.getElementById('text').value = arguments[0]; document.getElementById('paste').requestSubmit()"
    late = "for (const release of window.held.splice(0)) release(); return new Promise((done) => setTimeout(done, 50))"
    held = "return new Promise((done) => { const look = () => window.held?.length === arguments[0] ? done() : setTimeout(look, 5); look(); })"

    page.open(f"a={quote(START)}")  # the first of two texts is answered last
    first, second = (START.replace("|skip_connect~0|+", f"|{name}~0|+") for name in ("nor_conv_3x3", "nor_conv_1x1"))
    page.run(LATE, "text=%7Cnor_conv_3x3")
    page.run(paste, first)
    page.run(paste, second)
    page.wait_for(second)
    page.run(late)
    assert page.text == second
    assert page.value == truth.written(second) != truth.written(first)

    page.run(LATE, "random")  # an architecture of the benchmark before
    page.run("document.getElementById('random').click()")
    page.run(held, 1)
    page.run(go, str(darts))
    page.find(f"html[data-shown='{darts}']")
    page.run(late)
    assert "a=" not in page.run("return location.hash").replace("b=", "")

    page.run(LATE, "points?benchmark=nb201")  # the points, and other axes meanwhile
    page.run(go, TABLE)
    page.run(held, 1)
    page.run("const x = document.getElementById('x'); x.value = 'train_time_s'; x.dispatchEvent(new Event('change'))")
    page.run("window.dispatchEvent(new KeyboardEvent('keydown', {key: 'p'}))")
    page.run(held, 3)
    page.run(late)
    page.find("#plot[data-points='15625']:not([aria-busy])")
    page.paint()
    assert page.all("#plot .title")[0].text == "training time (s)"
    assert page.all(".front-point")


def test_exported_file_opens_from_disk_and_is_edited(browser: Any, exported: Path, small_table: Path) -> None:
    benchmark = nasbed.load(small_table)
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
    offered = {(edit.choice, edit.after) for edit in space.edits(arch) if benchmark.holds(edit.arch)}
    page.run(
        "document.querySelectorAll('#edits button').forEach((each) => /^Show all/.test(each.textContent) && each.click())"
    )
    enabled = "return [...document.querySelectorAll('button.edit:enabled')].map((each) => [each.dataset.slot, each.dataset.to])"
    assert {tuple(each) for each in page.run(enabled)} == offered
    page.find(f"[data-slot='{edit.choice}']").click()
    next(item for item in page.all(".menu [role=menuitem]:enabled") if item.text.startswith(edit.after)).click()
    edited = space.format(edit.arch)
    page.wait_for(edited)
    assert page.value == written(edited)
    page.browser.back()
    page.wait_for(space.format(arch))
    assert page.run("return performance.getEntriesByType('resource').map(each => each.name)") == []
    assert complaints(browser) == []


def test_rows_without_details_are_drawn_and_edited_too(
    browser: Any, small_table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nasbed.explorer.export.MOST_DETAILED", 10)
    file = small_table.parent / "few-details.html"
    assert write_export(Catalogue(str(small_table)), file) == "78 architectures, 10 of them with details"
    benchmark = nasbed.load(small_table)
    space, objective = benchmark.space, benchmark.objective
    page = Page(browser, file.as_uri())
    names = ["none", "skip_connect", "nor_conv_1x1", "nor_conv_3x3", "avg_pool_3x3"]
    slots = ["1<-0", "2<-0", "2<-1", "3<-0", "3<-1", "3<-2"]
    held = {
        arch: [edit for edit in space.edits(arch) if benchmark.holds(edit.arch)] for arch in benchmark.architectures()
    }
    compared = 0
    for arch, edits in sorted(held.items(), key=lambda each: -len(each[1]))[:2]:
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
    assert compared > 1


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
