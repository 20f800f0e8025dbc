"""The pages of the studies that search: generalisation and methods."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nasbed.core.metric import Metric
from nasbed.evaluation.anytime import Anytime
from nasbed.studies.generalisation.page import generalisation_facts, generalisation_table, write_generalisation_report
from nasbed.studies.generalisation.study import GeneralisationStudy, Ordering, SpaceResult
from nasbed.studies.methods.page import write_methods_report
from nasbed.studies.methods.study import MethodResult, MethodsStudy
from nasbed.studies.variants import VariantResult
from support.pages import check_page

METRIC = Metric("accuracy", split="test", unit="%")


def curve(end: float) -> Anytime:
    times = np.geomspace(10, 1000, 5)
    middle = np.linspace(5, end, 5)
    return Anytime(times, middle, middle * 0.5, middle * 1.5)


def place(name: str) -> SpaceResult:
    lines = [VariantResult(name, curve(end), np.full(4, end)) for name, end in (("RS", 2.0), ("NRE", 1.0), ("RE", 0.0))]
    orderings = [Ordering("RS", "NRE", 1.0, 0.001), Ordering("NRE", "RE", 1.0, 0.2)]
    return SpaceResult(name, 10, 94.0, {"methods": lines}, orderings, 0, (3, 40))


@pytest.fixture
def bootstrap() -> GeneralisationStudy:
    return GeneralisationStudy(place("t:part"), place("t"), METRIC, 4, "10ev", {"methods": 1.0})


def checked(folder: Path) -> str:
    page = (folder / "report.html").read_text()
    check_page(folder / "report.html")
    json.loads((folder / "numbers.json").read_text())
    return page


def test_generalisation_report_has_both_spaces_and_the_verdicts(bootstrap: GeneralisationStudy, tmp_path: Path) -> None:
    write_generalisation_report(bootstrap, tmp_path, formats=("svg",))
    page = checked(tmp_path)
    for words in ("t:part: 10 architectures", "RS &lt; NRE, t:part", "holds (mean", "not settled (mean", "p = 0.001"):
        assert words in page
    assert (tmp_path / "figures" / "methods.svg").is_file()
    numbers = json.loads((tmp_path / "numbers.json").read_text())
    assert numbers["spaces"]["small"]["failed_evaluations"] == 3
    assert "evaluations that failed, t:part" in page and "3 of 40" in page
    assert numbers["spaces"]["small"]["final_regret"]["methods"]["NRE"]["quartiles"] == [1.0, 1.0, 1.0]
    assert len(generalisation_table(bootstrap)[1]) == 3


def test_generalisation_facts_say_where_no_correlation_exists(bootstrap: GeneralisationStudy) -> None:
    facts = generalisation_facts(replace(bootstrap, correlations={"methods": float("nan")}))
    assert "undefined" in facts["Spearman between the spaces, methods"]


def test_methods_report_has_a_card_for_each_method_and_names_who_is_left_out(tmp_path: Path) -> None:
    methods = [
        MethodResult("rs", "random search", {}, curve(2.0), np.array([2.0, 2.0]), 0.1, {}),
        MethodResult("re", "evolution", {"size": 1 / 3}, curve(0.5), np.array([0.5]), 0.2, {1: "ValueError: <b>"}),
        MethodResult("mine", "finds nothing", {}, Anytime(*[np.empty(0)] * 4), np.empty(0), 0.0, {}),
    ]
    study = MethodsStudy("t", METRIC, 2, "10ev", methods, {"far": "far needs a package"})
    write_methods_report(study, tmp_path, formats=("svg",))
    page = checked(tmp_path)
    cards = dict(re.findall(r'<article id="(\w+)">(.*?)</article>', page, flags=re.DOTALL))
    assert list(cards) == ["rs", "re", "mine"]
    assert "<dt>size</dt><dd>1/3</dd>" in cards["re"] and "1: ValueError: &lt;b&gt;" in cards["re"]
    assert "<dt>settings</dt><dd>none</dd>" in cards["rs"] and "no run ended" in cards["mine"]
    assert "left out: far" in page and "far needs a package" in page
    assert {path.stem for path in (tmp_path / "figures").iterdir()} == set(cards)
