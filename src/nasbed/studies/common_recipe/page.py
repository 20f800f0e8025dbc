"""The page of the choice of a common recipe: the settings, the chosen one, and what each architecture loses by it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np

from nasbed.core.files import complete_file
from nasbed.core.json_values import plain
from nasbed.drawing.blocks import Paragraph, figure, table_block
from nasbed.drawing.figures import write_report
from nasbed.drawing.marks import Chart, inline
from nasbed.drawing.number_tables import NumberTable
from nasbed.drawing.number_texts import count_text, fixed, spanned
from nasbed.drawing.page import Section
from nasbed.drawing.palette import COLOURS, FAINT
from nasbed.studies.common_recipe.study import CommonRecipeStudy
from nasbed.training.recipe_files import recipe_toml

WIDTH, ROW = 520, 24
RECIPE_FILE = "recipe.toml"
CAPTION = (
    "Validation accuracy in per cent, the mean over architectures with its 95 % bootstrap interval over them. H† is "
    "the setting with the best mean. A setting with which a training diverged is not for all architectures and has "
    "none."
)
GAPS = (
    "Each architecture with H† (filled) and with the best setting for itself (hollow). The best of several noisy "
    "trainings is above its true mean, so gaps are upper bounds; more --seeds make them tighter."
)


def outcome(study: CommonRecipeStudy) -> str:
    """The choice in a paragraph."""
    own = int((study.gaps == 0).sum())
    equal = sum(setting.mean.estimate == study.chosen.mean.estimate for setting in study.settings) - 1
    tie = f" {count_text(equal, 'other setting')} had the same mean; of these the first was taken." if equal else ""
    return (
        f"H† is {study.chosen.name}: {spanned(study.chosen.mean)} % mean validation accuracy over "
        f"{len(study.architectures)} architectures.{tie} It is the best setting for {own} of them. On "
        f"average an architecture is {study.gaps.mean():.2f} points below its own best, {study.gaps.max():.2f} at "
        "most. "
        f"Architectures rank with H† as with their own best by a Spearman correlation of "
        f"{study.transfer.spearman:.3f} (the paper, on other data: 0.9155)."
    )


def settings_table(study: CommonRecipeStudy) -> NumberTable:
    """A row per setting, the best mean first."""
    rows = [
        (
            setting.name + (" (H†)" if setting is study.chosen else ""),
            f"{setting.diverged} diverged" if setting.diverged else spanned(setting.mean),
            str(setting.best_for),
        )
        for setting in study.standings()
    ]
    return NumberTable(("setting", "mean validation accuracy [%]", "best for"), tuple(rows))


def architectures_table(study: CommonRecipeStudy) -> NumberTable:
    """A row per architecture: with H†, with its own best, and the difference, the largest first."""
    order = np.argsort(-study.gaps, kind="stable")
    rows = [
        (
            study.architectures[place],
            fixed(float(study.transfer.fixed[place]), 2),
            fixed(float(study.transfer.tuned[place]), 2),
            fixed(float(study.gaps[place]), 2),
        )
        for place in order
    ]
    return NumberTable(("architecture", "with H† [%]", "own best [%]", "difference"), tuple(rows))


def common_recipe_figures(study: CommonRecipeStudy) -> dict[str, Chart]:
    """Mean accuracies by setting, and the gap of each architecture."""
    return {"settings": _settings(study), "gaps": _gaps(study)}


def _settings(study: CommonRecipeStudy) -> Chart:
    rows = [
        {
            "setting": setting.name,
            "mean": setting.mean.estimate,
            "low": setting.mean.low,
            "high": setting.mean.high,
            "chosen": "H†" if setting is study.chosen else "other",
        }
        for setting in study.settings
        if not setting.diverged
    ]
    colour = alt.Color("chosen:N", legend=None).scale(domain=["H†", "other"], range=[COLOURS[1], COLOURS[0]])
    order = [setting.name for setting in study.settings]
    base = alt.Chart(inline(rows)).encode(alt.Y("setting:N", title=None, sort=order).axis(labelLimit=320), colour)
    across = alt.Scale(zero=False)
    bars = base.mark_rule(strokeWidth=2).encode(alt.X("low:Q").scale(across), alt.X2("high"))
    x = alt.X("mean:Q", title="mean validation accuracy [%]").scale(across)
    return (bars + base.mark_point(filled=True, size=70, opacity=1).encode(x)).properties(
        width=WIDTH, height=ROW * len(rows)
    )


def _gaps(study: CommonRecipeStudy) -> Chart:
    order = np.argsort(study.transfer.tuned, kind="stable")[::-1]
    rows = [
        {
            "place": rank,
            "architecture": study.architectures[place],
            "common": float(study.transfer.fixed[place]),
            "own": float(study.transfer.tuned[place]),
        }
        for rank, place in enumerate(order, 1)
    ]
    base = alt.Chart(inline(rows)).encode(
        alt.X("place:O", title="architectures, by their own best").axis(labelAngle=0), tooltip=["architecture:N"]
    )
    up = alt.Scale(zero=False)
    y = alt.Y("common:Q", title="validation accuracy [%]").scale(up)
    links = base.mark_rule(color=FAINT).encode(y, alt.Y2("own"))
    own = base.mark_point(color=COLOURS[0], size=60).encode(alt.Y("own:Q").scale(up))
    return (links + own + base.mark_point(color=COLOURS[1], filled=True, size=60, opacity=1).encode(y)).properties(
        width=WIDTH, height=260
    )


def common_recipe_numbers(study: CommonRecipeStudy) -> dict[str, Any]:
    """Every number of the page."""
    numbers: dict[str, Any] = plain(
        {
            "space": study.space,
            "dataset": study.dataset,
            "recipe": study.base.settings(),
            "epochs": study.epochs,
            "seeds": study.seeds,
            "varied": study.varied,
            "chosen": study.chosen.values,
            "settings": [
                {"values": setting.values, "mean": asdict(setting.mean), "diverged": setting.diverged}
                for setting in study.settings
            ],
            "architectures": study.architectures,
            "validation_accuracy": study.accuracies,
            "with_common_setting": study.transfer.fixed,
            "with_own_best": study.transfer.tuned,
            "spearman": study.transfer.spearman,
            "mean_test_accuracy": study.test_accuracy,
        }
    )
    return numbers


def write_common_recipe_report(study: CommonRecipeStudy, folder: Path, *, formats: Iterable[str] = ()) -> None:
    """Write ``report.html``, ``numbers.json``, ``recipe.toml`` with H†, and ``figures/`` into a folder."""
    facts: dict[str, object] = {
        "architectures": f"{len(study.architectures)} random ones of {study.space}; the paper took 50",
        "trainings": f"{study.accuracies.size * study.seeds}: {len(study.settings)} settings, "
        f"{count_text(study.seeds, 'seed')}, {study.epochs} epochs on {study.dataset}",
        "recipe": f"{study.base.name}, whose other fields stay the same",
        "test accuracy with H†": f"{study.test_accuracy:.2f} % on average",
        "recipe with H†": f"{RECIPE_FILE}: nasbed train … --recipe {RECIPE_FILE}",
    }
    sections = [
        Section("The common setting H†", {}, text=outcome(study), blocks=[figure("settings")]),
        Section("All settings", {}, blocks=[table_block(settings_table(study)), Paragraph(CAPTION, "caption")]),
        Section(
            "What each architecture loses",
            {},
            text=GAPS,
            blocks=[figure("gaps"), table_block(architectures_table(study))],
        ),
        Section("What was run", facts),
    ]
    title = f"One recipe for all of {study.space} on {study.dataset}"
    charts, numbers = common_recipe_figures(study), common_recipe_numbers(study)
    write_report(folder, title, sections=sections, figures=charts, numbers=numbers, formats=formats)
    with complete_file(folder / RECIPE_FILE) as draft:
        draft.write_text(recipe_toml(study.recipe), encoding="utf-8")
