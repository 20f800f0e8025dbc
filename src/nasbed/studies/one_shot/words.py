"""One-shot searches over their epochs, in words."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from nasbed.drawing.number_texts import listed
from nasbed.studies.one_shot.failure import LOSS, WINDOW
from nasbed.studies.one_shot.study import OneShotStudy, WatchedMethod, WatchedSearch

RULE = (
    f"A search goes wrong if three things hold for its last {WINDOW} epochs and its best {WINDOW} consecutive epochs "
    "before. Every late prediction is worse than every earlier one. The means differ by at least "
    f"{LOSS:g} standard deviations of random architectures. The supernet\u2019s mean accuracy rises. The rule needs at "
    f"least {2 * WINDOW} epochs. A single search may meet it by luck, more easily if its architectures stay for long. "
    "The rule compares a search with itself: one that found nothing does not decline. A search ends worse than random "
    f"if its final prediction is at least {LOSS:g} of these standard deviations behind the mean of random "
    "architectures."
)


def is_behind(search: WatchedSearch) -> bool:
    """Whether a search ends worse than the mean of random architectures, by as much as two digits show."""
    return search.behind_random >= 0.005


def judge_lines(study: OneShotStudy) -> list[str]:
    """Which surrogate judged which searches, on how many evaluations, and whether it has seen the method's own."""
    if study.measured:
        return ["All architectures of the searches are judged by stored trainings, not by a prediction."]
    lines: dict[str, None] = {}
    for method in study.methods:
        judge = method.judge
        rows = "" if judge.rows is None else f" on {_count(judge.rows)} evaluations"
        if judge.left_out:
            line = (
                f"{method.method} is judged by the model of {study.benchmark} fitted{rows}, without the "
                f"{_count(judge.left_out)} of architectures that {method.method} evaluated."
            )
        elif judge.caution:
            line = f"The judge, {study.benchmark}, may have seen the data of these searches: {judge.caution}."
        else:
            line = (
                f"{method.method} is judged by {study.benchmark}, which was fitted{rows}; none is of an architecture "
                f"that {method.method} evaluated."
            )
        lines[line] = None
    return list(lines)


def _count(number: int) -> str:
    return f"{number:_}".replace("_", " ")


def outcome(study: OneShotStudy) -> list[str]:
    """The result in words: a paragraph about the random architectures, then one per method."""
    unit = f" {study.metric.unit}" if study.metric.unit else ""
    of = f" on {study.dataset}" if study.dataset else ""
    quantity = "the mean measured" if study.measured else "the mean predicted"
    begin = (
        f"{study.benchmark} gives {quantity} {study.metric.key.replace('_', ' ')}{of}. Of {study.reference.count} "
        f"{study.reference.description} the mean is {study.reference.mean:.2f}{unit}, the standard deviation "
        f"{study.reference.std:.2f} and the best {study.reference.best:.2f}{unit}."
    )
    other_datasets = sorted({method.dataset for method in study.methods} - {study.dataset})
    if study.dataset and other_datasets:
        begin += f" The searches ran on {listed(other_datasets)}, where the order of architectures may differ."
    return [begin, *(_method_words(study, method) for method in study.methods)]


def _method_words(study: OneShotStudy, method: WatchedMethod) -> str:
    unit = f" {study.metric.unit}" if study.metric.unit else ""
    finals = [search.final for search in method.searches if math.isfinite(search.final)]
    count = len(method.searches)
    parts = []
    if finals:
        mean = float(np.mean(finals))
        seeds = f"the mean of {len(finals)} seeds" if len(finals) > 1 else f"seed {method.searches[0].seed} alone"
        best = np.mean([search.prediction[search.best] for search in method.searches if search.best is not None])
        parts.append(
            f"{method.name} ends at {mean:.2f}{unit} ({seeds}), "
            f"{_comparison_text(study, mean, method.reference.mean)} the "
            f"mean of random architectures and {_comparison_text(study, mean, float(best))} the best on the way."
        )
        if method.judge.left_out:
            seen = np.mean([search.benchmark_final for search in method.searches if math.isfinite(search.final)])
            parts.append(f"The surrogate that has seen its data says {seen:.2f}{unit}.")
    else:
        parts.append(f"{method.name} ends without an architecture.")
    parts.append(failure_words(study, method))
    for rule in study.rules:
        stopped = [
            search for search in method.searches if search.stops.get(rule) is not None and math.isfinite(search.final)
        ]
        if stopped:
            change = float(np.mean([search.at_stop(rule) - search.final for search in stopped]))
            parts.append(
                f"Stopped by {rule}, {len(stopped)} of {count} would have ended early, {_change(study, change)}."
            )
    parts += [
        f"Seed {search.seed} diverged after epoch {search.epochs[-1]}: {search.reason}."
        for search in method.searches
        if search.status == "diverged"
    ]
    return " ".join(parts)


def failure_words(study: OneShotStudy, method: WatchedMethod) -> str:
    """Whether searches go wrong by the rule, and how those that do not compare with random architectures: a search that
    never found anything does not decline."""
    failed = [(search, search.failure) for search in method.searches if search.failure is not None]
    others = [search for search in method.searches if search.failure is None and math.isfinite(search.final)]
    behind = [search for search in others if is_behind(search)]
    if not failed:
        return f"{_no_decline(method)}{_against_random(study, others, behind)}."
    lost = float(np.mean([wrong.lost for _, wrong in failed]))
    gained = float(np.mean([wrong.gained for _, wrong in failed]))
    places = sorted({wrong.epoch for _, wrong in failed})
    several = len(failed) > 1
    worse = "falls" if study.metric.direction == "maximize" else "rises"
    count = sum(search.long_enough for search in method.searches)
    return (
        f"{len(failed)} of {count} go{'' if several else 'es'} wrong (seed{'s' if several else ''} "
        f"{listed([str(search.seed) for search, _ in failed])}): from epoch {' or '.join(map(str, places))} on the "
        f"prediction {worse} by {lost:.2f}{_points(study)}{' in the mean' if several else ''} while the "
        f"supernet\u2019s accuracy rises by {gained:.1f} points."
        + (f" Of the others, {len(behind)} {_behind_words(study, behind)}." if behind else "")
    )


def _no_decline(method: WatchedMethod) -> str:
    """The begin of a sentence about a method none of whose searches declines."""
    count = sum(search.long_enough for search in method.searches)
    if not count:
        return f"The rule for going wrong needs at least {2 * WINDOW} epochs"
    return "By the rule no search declines" if count > 1 else "By the rule it does not decline"


def _against_random(study: OneShotStudy, others: Sequence[WatchedSearch], behind: Sequence[WatchedSearch]) -> str:
    """The end of that sentence: how its searches end beside random architectures."""
    if not others:
        return ""
    single = len(others) == 1
    if behind:
        return f", but {'it' if single else f'{len(behind)} of {len(others)}'} {_behind_words(study, behind)}"
    subject = "it ends" if single else f"all {len(others)} end"
    return f", and {subject} no worse than the mean of {study.reference.description}"


def _behind_words(study: OneShotStudy, behind: Sequence[WatchedSearch]) -> str:
    """The predicate of a sentence: by how much searches end worse than random architectures, and their seeds."""
    several = len(behind) > 1
    points = float(np.mean([search.behind_random for search in behind]))
    slightly = "" if any(search.worse_than_random for search in behind) else f", by less than {LOSS:g} of their"
    return (
        f"end{'' if several else 's'} {points:.2f}{_points(study)}"
        f"{' in the mean' if several else ''} worse than the mean of {study.reference.description} "
        f"(seed{'s' if several else ''} {listed([str(search.seed) for search in behind])})"
        + (f"{slightly} standard deviations" if slightly else "")
    )


def _comparison_text(study: OneShotStudy, value: float, reference: float) -> str:
    difference = value - reference
    if abs(difference) < 0.005:
        return "level with"
    return f"{abs(difference):.2f}{_points(study)} {'above' if difference > 0 else 'below'}"


def _change(study: OneShotStudy, change: float) -> str:
    return (
        "with the same prediction"
        if abs(change) < 0.005
        else f"which changes the prediction by {change:+.2f}{_points(study)}"
    )


def _points(study: OneShotStudy) -> str:
    return " points" if study.metric.unit == "%" else f" {study.metric.unit}" if study.metric.unit else ""
