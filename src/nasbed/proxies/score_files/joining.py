"""Scores of the same architectures from two files side by side, such as published ones and your own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from nasbed.core.arrays import common_rows
from nasbed.core.errors import InvalidOption
from nasbed.proxies.table import ScoresInfo, ScoreTable, Texts


def joined_scores(first: ScoreTable, second: ScoreTable) -> ScoreTable:
    """The architectures and seeds that both files have, with the proxies of both.

    Proxies that both have are the first file's. What seeds draw may differ between the two: a seed is a number of a
    draw, and each proxy is judged by itself. Times are left out, since they may be of two machines.
    """
    _check_alike(first.about, second.about)
    seeds = tuple(seed for seed in first.seeds if seed in second.seeds)
    rows, second_rows = common_rows(first.codes, second.codes)
    if not len(rows) or not seeds:
        raise InvalidOption(f"the files share {len(rows)} architectures and {len(seeds)} seeds; choose other files")
    if not (added := [name for name in second.proxies if name not in first.proxies]):
        raise InvalidOption("the second file has no proxy that the first one lacks; there is nothing to join")
    left, right = _seeds(first.take(rows), seeds), _seeds(second.take(second_rows), seeds)
    return ScoreTable(
        replace(
            first.about,
            dataset=first.about.dataset or second.about.dataset,
            dataset_hash=first.about.dataset_hash or second.about.dataset_hash,
            batch=first.about.batch if first.about.batch == second.about.batch else None,
            source="; ".join(dict.fromkeys(part for part in (first.about.source, second.about.source) if part)),
            code={**second.about.code, **first.about.code},
        ),
        left.codes,
        seeds,
        {**left.values, **{name: right.values[name] for name in added}},
        no_score=_texts(left.no_score, right.no_score, added),
        remarks=_texts(left.remarks, right.remarks, added),
    )


def _check_alike(first: ScoresInfo, second: ScoresInfo) -> None:
    """Raise unless both are of the same networks and images, as far as the files say."""
    if first.space != second.space:
        raise InvalidOption(f"scores are joined in one space, got {first.space} and {second.space}; choose other files")
    if first.recipe != second.recipe:
        recipes = " and ".join(info.recipe or "the usual skeleton" for info in (first, second))
        raise InvalidOption(f"scores of the same networks are joined, got those of {recipes}; choose other files")
    for name in ("dataset", "dataset_hash"):
        if len(known := {getattr(info, name) for info in (first, second)} - {""}) > 1:
            raise InvalidOption(
                f"scores of one dataset's images are joined, got {' and '.join(sorted(known))}; choose other files"
            )


def _seeds(scores: ScoreTable, seeds: tuple[int, ...]) -> ScoreTable:
    places = [scores.seeds.index(seed) for seed in seeds]
    return replace(
        scores,
        seeds=seeds,
        values={name: column[:, places] for name, column in scores.values.items()},
        seconds={},
        no_score=None if scores.no_score is None else scores.no_score[:, places],
        remarks=None if scores.remarks is None else scores.remarks[:, places],
    )


def _texts(first: Texts | None, second: Texts | None, added: list[str]) -> Texts | None:
    """Both files' reasons or remarks, of the second those of the proxies that it adds."""
    if second is None:
        return first
    kept = np.frompyfunc(
        lambda text: "; ".join(part for part in (text or "").split("; ") if _owner(part) in added), 1, 1
    )
    both = np.frompyfunc(lambda *texts: "; ".join(text for text in texts if text), 2, 1)
    joined: Texts = kept(second) if first is None else both(first, kept(second))
    return joined


def _owner(part: str) -> str:
    """The proxy of a reason or remark."""
    return part.partition(":")[0]
