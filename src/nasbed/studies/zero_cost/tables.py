"""The outcome of a study of zero-cost proxies in words, in tables and in plain numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Literal

import numpy as np

from nasbed.core.json_values import plain
from nasbed.drawing.blocks import TableBlock, TableCell
from nasbed.drawing.number_tables import NumberTable
from nasbed.drawing.number_texts import MISSING, count_text, fixed, listed
from nasbed.evaluation.significance import Interval
from nasbed.studies.zero_cost.few_points import BOTH, SHUFFLED, VARIANTS, FewPoints
from nasbed.studies.zero_cost.samples import GLOBAL, RBO, TOP, interval_numbers
from nasbed.studies.zero_cost.statements import FAILS, HOLDS, OPEN
from nasbed.studies.zero_cost.study import StudiedTask, ZeroCostStudy

TITLES = {"spearman": "Spearman over all", "top": "Spearman within the top", "rbo": "normalised RBO"}
LEVEL = 0.05


def outcome(study: ZeroCostStudy) -> list[str]:
    """The outcome in paragraphs."""
    by_verdict = {
        verdict: [s.key for s in study.statements if s.verdict == verdict and not s.ours]
        for verdict in (HOLDS, FAILS, OPEN)
    }
    verdicts = [f"{listed(keys)} {_verb(verdict, keys)}" for verdict, keys in by_verdict.items() if keys]
    parts = [f"Of the paper\u2019s statements, {'; '.join(verdicts)}."]
    beyond_paper = [statement for statement in study.statements if statement.ours and statement.verdict != OPEN]
    parts += [
        f"Beyond the paper, \u201c{statement.claim[:-1]}\u201d {statement.verdict}. {statement.why}"
        for statement in beyond_paper
    ]
    return parts + (_proxies_together(study.tasks[0]) if len(study.tasks) == 1 else _over_tasks(study.tasks))


def _proxies_together(task: StudiedTask) -> list[str]:
    """What combinations of proxies do on one task."""
    clauses = [
        f"{TITLES[name]} {fixed(halves.interval(halves.chosen).estimate, 2)} against "
        f"{fixed(halves.interval(halves.single).estimate, 2)}"
        for name, halves in task.combined.items()
    ]
    averages = (
        f"On {task.name}, an average of the ranks of proxies that were chosen on other architectures has "
        f"{', '.join(clauses)} of the best single one."
    )
    return [averages] if task.few_points is None else [averages, _few_sentence(task)]


def _over_tasks(tasks: Sequence[StudiedTask]) -> list[str]:
    """The same on several tasks: how many, and by how much in the mean."""
    clauses = []
    for name, title in TITLES.items():  # half of a small task has no top
        gains = np.array([task.combined[name].gain.estimate for task in tasks if name in task.combined])
        gains = gains[np.isfinite(gains)]
        if len(gains):
            mean = round(float(gains.mean()), 2) + 0.0  # never minus zero
            clauses.append(f"by {title} on {(gains > 0).sum()} of {count_text(len(gains), 'task')} ({mean:+.2f})")
    averages = (
        "An average of the ranks of proxies that were chosen on other architectures is ahead of the best single one "
        f"{listed(clauses)}; in brackets the mean difference."
    )
    parts = [averages] if clauses else []
    learned = [task.few_points for task in tasks if task.few_points is not None]
    shared = sorted(set.intersection(*(set(points.sizes) for points in learned))) if learned else []
    if shared:
        clauses = [_few_clause(learned, size) for size in dict.fromkeys((shared[0], shared[-1]))]
        parts.append(
            f"Adding scores to the encoding of a surrogate raises its Kendall significantly {', and '.join(clauses)}."
            + _too_few_repeats(learned[0])
        )
    return parts


def _few_clause(learned: Sequence[FewPoints], size: int) -> str:
    """On how many tasks scores help a surrogate with so many trainings, and on how many they harm it."""
    counts = []
    for model in learned[0].models:
        gains = [points.gains[model, BOTH][points.sizes.index(size)] for points in learned]
        means = [gain.mean.estimate for gain in gains if gain.p < LEVEL]
        harmed = sum(mean < 0 for mean in means)
        counts.append(f"{sum(mean > 0 for mean in means)} ({model}{f', and lowers it on {harmed}' if harmed else ''})")
    return f"with {size} trained architectures on {listed(counts)} of {len(learned)} tasks"


def _verb(verdict: str, keys: Sequence[str]) -> str:
    if len(keys) == 1:
        return verdict
    return "hold" if verdict == HOLDS else "do not hold" if verdict == FAILS else verdict


def _few_sentence(task: StudiedTask) -> str:
    assert task.few_points is not None
    points = task.few_points
    parts = []
    for place in sorted({0, len(points.sizes) - 1}):
        gains = []
        for model in points.models:
            gain, control = points.gains[model, BOTH][place], points.gains[model, SHUFFLED][place]
            text = f"{model}, p = {gain.p:.2g}; shuffled {control.mean.estimate:+.3f}"
            gains.append(f"{gain.mean.estimate:+.3f} ({text})")
        parts.append(f"{listed(gains)} with {points.sizes[place]} trained architectures")
    text = f"There, adding scores to the encoding changes the Kendall of a surrogate by {', and by '.join(parts)}."
    return text + _too_few_repeats(points)


def _too_few_repeats(points: FewPoints) -> str:
    """A warning, if no difference can be significant."""
    if 2.0 ** (1 - points.repeats) * len(points.sizes) * len(points.models) < LEVEL:
        return ""
    return f" With {points.repeats} repeats no difference can be significant, however large: use more repeats."


def statements_table(study: ZeroCostStudy) -> NumberTable:
    """One row per statement, for a terminal: its key, its verdict, and the reason."""
    rows = tuple((statement.key, statement.verdict, statement.why) for statement in study.statements)
    return NumberTable(("statement", "verdict", "why"), rows, numbers=3)


def statements_block(study: ZeroCostStudy) -> TableBlock:
    """The statements with their criteria, for a page."""
    kinds: dict[str, Literal["holds", "fails"]] = {HOLDS: "holds", FAILS: "fails"}
    rows = tuple(
        (
            TableCell(statement.key),
            TableCell(
                f"{statement.claim} (not in the paper)" if statement.ours else statement.claim,
                "wide",
                small=statement.criterion,
            ),
            TableCell(statement.verdict, kinds.get(statement.verdict, "open")),
            TableCell(statement.why, "wide"),
        )
        for statement in study.statements
    )
    heads = tuple(map(TableCell, ("", "statement and criterion", "verdict", "it rests on")))
    return TableBlock(heads, rows, "stated")


def averages_table(study: ZeroCostStudy) -> NumberTable:
    """Rank averages against the best single proxy, one row per task and measure."""
    columns = (
        "task",
        "measure",
        "best single",
        "all averaged",
        "chosen averaged",
        "gain of the chosen",
        "ahead",
        "chosen",
    )
    rows = []
    for task in study.tasks:
        for name, halves in task.combined.items():
            often = [proxy for proxy, share in halves.shares().items() if share >= 0.5]
            averages = (halves.single, halves.every, halves.chosen)
            rows.append(
                (
                    task.name,
                    TITLES[name],
                    *(_interval_text(halves.interval(average)) for average in averages),
                    _interval_text(halves.gain),
                    f"{halves.wins:.0%}",
                    ", ".join(often) or MISSING,
                )
            )
    note = (
        f"Means over {study.halves} random halves, in brackets where the middle 95 % of the halves lie. Proxies, and "
        "the best single one, are chosen by the measure on one half and judged by it on the other. Ahead: on how many "
        "halves the chosen average is. Scores of several seeds are averaged first. Chosen: in half of the splits or "
        "more."
    )
    return NumberTable(columns, tuple(rows), numbers=2, note=note)


def few_points_table(study: ZeroCostStudy) -> NumberTable:
    """Kendall's tau by task, model and size, and the gain of scores over the encoding alone."""
    columns = ("task", "model", "trained", *VARIANTS, "scores beside it", "p", "scores instead", "p", "control", "p")
    rows = []
    for task in study.tasks:
        if task.few_points is None:
            continue
        points = task.few_points
        for model in points.models:
            for place, size in enumerate(points.sizes):
                gains = [points.gains[model, variant][place] for variant in VARIANTS[1:]]
                taus = [fixed(float(points.taus[model, variant][place].mean()), 3) for variant in VARIANTS]
                changes = [
                    text for gain in gains for text in (_interval_text(gain.mean, 3, signed=True), f"{gain.p:.2g}")
                ]
                rows.append((task.name, model, str(size), *taus, *changes))
    note = (
        "Mean Kendall\u2019s tau over repeats, and its change against the encoding alone with a 95 % bootstrap "
        "interval over repeats; p by Wilcoxon\u2019s signed-rank test, Holm\u2019s correction for the number of sizes "
        "and models."
    )
    return NumberTable(columns, tuple(rows), numbers=2, note=note)


def zero_cost_numbers(study: ZeroCostStudy) -> dict[str, Any]:
    """All numbers of the page."""
    numbers: dict[str, Any] = plain(
        {
            "top_percent": study.top_percent,
            "weight": study.weight,
            "resamples": study.resamples,
            "halves": study.halves,
            "outcome": outcome(study),
            "statements": [asdict(item) for item in study.statements],
            "tasks": [_task_numbers(item) for item in study.tasks],
        }
    )
    return numbers


def _task_numbers(task: StudiedTask) -> dict[str, Any]:
    measures, reference = task.measures, task.measures.reference
    return {
        "task": task.name,
        "metric": task.judged.metric.key,
        "space": task.judged.space,
        "architectures": task.judged.architectures,
        "left_out": task.judged.left_out,
        "top": measures.top,
        "p": task.judged.yardstick.p,
        "chance_rbo": task.judged.chance_rbo,
        "remark": task.remark,
        "notes": list(task.judged.notes),
        "ceiling": None if task.judged.ceiling is None else asdict(task.judged.ceiling),
        "proxies": {
            proxy: {
                **{measure: interval_numbers(measures.interval(measure, proxy)) for measure in (GLOBAL, TOP, RBO)},
                "places": {measure: measures.place(measure, proxy) for measure in (GLOBAL, TOP, RBO)},
                "drop": interval_numbers(measures.drop(proxy)),
                "expected_top": None if reference is None else interval_numbers(reference.in_top(place)),
                "expected_rbo": None if reference is None else interval_numbers(reference.overlap(place)),
            }
            for place, proxy in enumerate(measures.proxies)
        },
        "rank_average": {
            name: {
                "single": interval_numbers(halves.interval(halves.single)),
                "all": interval_numbers(halves.interval(halves.every)),
                "chosen": interval_numbers(halves.interval(halves.chosen)),
                "gain": interval_numbers(halves.gain),
                "gain_of_all": interval_numbers(halves.gain_of_all),
                "ahead": halves.wins,
                "chosen_share": halves.shares(),
                "single_names": halves.single_names,
            }
            for name, halves in task.combined.items()
        },
        "few_points": None
        if task.few_points is None
        else {
            "sizes": task.few_points.sizes,
            "held_out": task.few_points.held_out,
            "repeats": task.few_points.repeats,
            "encoding": task.few_points.encoding,
            "kendall": {f"{model}, {variant}": taus for (model, variant), taus in task.few_points.taus.items()},
            "gain": {
                f"{model}, {variant}": [{"mean": interval_numbers(gain.mean), "p_holm": gain.p} for gain in gains]
                for (model, variant), gains in task.few_points.gains.items()
            },
        },
    }


def _interval_text(interval: Interval, decimals: int = 2, *, signed: bool = False) -> str:
    estimate = f"{interval.estimate:+.{decimals}f}" if signed else fixed(interval.estimate, decimals)
    return f"{estimate} [{fixed(interval.low, decimals)} to {fixed(interval.high, decimals)}]"
