"""The page of watched one-shot searches: what came out, a table, a figure a method, all methods together."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from pathlib import Path

from nasbed.drawing.figures import figure_svg, metric_label, save_figures
from nasbed.drawing.interactive import STYLE as COLOUR_STYLE
from nasbed.drawing.number_tables import table_html
from nasbed.drawing.page import Section, write_numbers, write_page
from nasbed.drawing.styles import FIGURE_STYLE, TABLE_STYLE
from nasbed.studies.one_shot.figures import one_shot_figures
from nasbed.studies.one_shot.study import OneShotStudy
from nasbed.studies.one_shot.tables import (
    RULE,
    failure_words,
    method_table,
    one_shot_numbers,
    outcome,
    search_table,
)

STYLE = """
.figures figcaption.wrong { border-left: 3px solid #d55e00; padding-left: .6rem; }
th, td { padding-right: .8rem; }
.figures figure { display: flex; flex-direction: column; } .figures figcaption + svg { margin-top: auto; }
.figures.wide { grid-template-columns: 1fr; }
"""
PUBLISHED = "Surrogate NAS Benchmarks, appendix F.1: one-shot trajectories"
TEXT = (
    "Above, what the benchmark says of the architecture that a search would end with after each epoch; the dashed line "
    "is the mean of random architectures, the dotted one the best of them. Then the supernet\u2019s own accuracy on "
    "the images that train architectures, and the skip connections of the architecture. Thin lines are seeds, the "
    "thick one is their mean as far as all of them go. A mark in the upper panel is the architecture that a stopping "
    "rule would have taken, in the middle one when it would have stopped. All methods have the same axes."
)
TOGETHER = (
    "The mean prediction over seeds, over epochs and over the mean time of the search, without what is measured beside "
    "it. Times are those of the machine that searched."
)
STOPPING = {
    "skips": "at two skip connections or more in the normal cell (DARTS+, 1909.06035)",
    "eigenvalue": "when the dominant eigenvalue of the architecture parameters\u2019 Hessian rises too fast, with the "
    "architecture from before the rise (Zela et al., 1909.09656)",
}


def write_one_shot_report(study: OneShotStudy, folder: Path, *, formats: Iterable[str] = ("svg", "png")) -> None:
    """Write ``report.html``, ``numbers.json`` and ``figures/`` into a folder, which is made if need be."""
    charts, formats = one_shot_figures(study), tuple(formats)
    save_figures(charts, folder / "figures", formats)
    write_numbers(folder, one_shot_numbers(study))
    drawn = {name: figure_svg(chart, name) for name, chart in charts.items()}
    told = "".join(f"<p>{escape(each)}</p>" for each in outcome(study))
    each = f"<details><summary>each search</summary>{table_html(search_table(study))}</details>"
    figures = ""
    for place, method in enumerate(study.methods, 1):
        wrong = method.failed or any(each.long_enough and study.worse_than_random(each) for each in method.searches)
        kind = ' class="wrong"' if wrong else ""
        words = f"{method.name}: {failure_words(study, method)}"
        figures += f"<figure><figcaption{kind}>{escape(words)}</figcaption>{drawn[f'method-{place}']}</figure>"
    together = f'<div class="figures wide"><figure>{drawn["together"]}</figure></div>'
    sections = [
        Section("What came out", {}, html=told + f'<p class="caption">{escape(RULE)}</p>'),
        Section("Methods", {}, html=table_html(method_table(study)) + each),
        Section("Over the search", {}, text=TEXT, html=f'<div class="figures">{figures}</div>'),
        Section("All methods", {}, text=TOGETHER, html=together),
        Section("What was watched", _about(study)),
    ]
    head = f"<style>{COLOUR_STYLE}{TABLE_STYLE}{FIGURE_STYLE}{STYLE}</style>\n"
    write_page(folder / "report.html", f"One-shot searches watched by {study.benchmark}", sections, head=head)


def _about(study: OneShotStudy) -> dict[str, object]:
    found: dict[str, object] = {
        "benchmark": f"{study.benchmark}, {metric_label(study.metric)} of {study.space}"
        + (f" on {study.dataset}" if study.dataset else ""),
        "prediction": "the mean over stored trainings" if study.measured else "the mean that the surrogate predicts",
    }
    for method in study.methods:
        seeds = ", ".join(str(each.seed) for each in method.searches)
        found[method.name] = f"searched on {method.dataset} with seed{'s' if len(method.searches) > 1 else ''} {seeds}"
    found |= {f"stop: {rule}": STOPPING.get(rule, "") for rule in study.rules}
    found["random architectures"] = study.reference.count
    found |= {f"left out: {name}": reason for name, reason in study.left_out.items()}
    found["published"] = PUBLISHED
    return found
