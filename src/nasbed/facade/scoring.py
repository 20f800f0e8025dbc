"""``nasbed.score``: untrained networks by zero-cost proxies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from nasbed.benchmarks import Benchmark, load
from nasbed.core.architecture import Architecture
from nasbed.core.calls.arguments import one_or_several, whole_number
from nasbed.core.errors import InvalidOption, shorten
from nasbed.experiments.scoring import drawn_rows, random_architectures, score_architectures
from nasbed.facade.arguments import engine_of
from nasbed.networks import check_torch
from nasbed.proxies import PROXIES
from nasbed.proxies.table import ScoreTable
from nasbed.spaces import SPACES, SearchSpace, space
from nasbed.terminal.progress import count_bar, note

Scored = str | SearchSpace | Benchmark | Architecture | Iterable[Architecture]
"""What is scored: a space, a benchmark, their ids, or architectures."""
USUAL_COUNT = 1000
"""How many architectures of a space are drawn."""


def score(
    architectures: Scored,
    *,
    n: int | None = None,
    dataset: str = "digits",
    proxies: str | Sequence[str] = "all",
    seeds: int = 1,
    batch: int = 64,
    recipe: str = "",
    sample_seed: int = 0,
    device: str = "auto",
    processes: int = 1,
    out: str | Path | None = None,
    progress: bool = True,
) -> ScoreTable:
    """Score untrained networks by zero-cost proxies, as ``nasbed proxies score`` does. Needs torch.

    Args:
        architectures: a list of them; a space or its id, of which random ones are drawn; a benchmark or its id, whose
            architectures are scored.
        n: how many; by default 1000 of a space, all of a benchmark or a list.
        dataset: whose images, from ``nasbed data list``.
        proxies: ids of ``nasbed proxies list``, or ``all``.
        seeds: how many seeds of weights and images: 0, 1, 2 …
        batch: how many images.
        recipe: build networks by this recipe; otherwise they are the space's usual ones.
        sample_seed: of the architectures that are drawn.
        device: ``auto``, ``cpu``, ``cuda`` or ``cuda:NUMBER``.
        processes: how many networks are scored at once.
        out: a ``.parquet`` file of scores. A repeated call adds what is missing there. Without it, scores are kept in
            memory alone.
        progress: whether a notebook or a terminal shows a progress bar.
    """
    check_torch()
    from nasbed.training.devices import chosen_device

    engine, names = engine_of(processes), one_or_several("proxies", proxies)
    rng = np.random.default_rng(whole_number("sample_seed", sample_seed, least=0))
    count = None if n is None else whole_number("n", n, least=1)
    with ExitStack() as stack:
        file = Path(stack.enter_context(TemporaryDirectory())) / "scores.parquet" if out is None else Path(out)
        report = stack.enter_context(count_bar("Scoring networks")) if progress else None
        return score_architectures(
            _architectures(architectures, count, rng),
            dataset=dataset,
            proxies=list(PROXIES) if names == ["all"] else names,
            out=file,
            seeds=range(whole_number("seeds", seeds, least=1)),
            batch=whole_number("batch", batch, least=1),
            recipe=recipe,
            device=str(chosen_device(device)),
            engine=engine,
            progress=report,
            on_note=note,
        )


def _architectures(scored: Scored, count: int | None, rng: np.random.Generator) -> list[Architecture]:
    if isinstance(scored, str):
        scored = space(scored) if scored in SPACES else load(scored)
    if isinstance(scored, SearchSpace):
        return random_architectures(scored, USUAL_COUNT if count is None else count, rng)
    if isinstance(scored, Benchmark):
        codes = scored.space.codes(list(scored.architectures()))
        return scored.space.architectures(drawn_rows(codes, count, rng))
    chosen = one_or_several("architectures", scored, Architecture)
    wrong = [item for item in chosen if not isinstance(item, Architecture)]
    if wrong:
        raise InvalidOption(
            f"a list to score holds architectures, got {shorten(wrong[0])}; make them with "
            "space.parse or space.from_config"
        )
    return chosen if count is None else [chosen[i] for i in drawn_rows(np.arange(len(chosen)), count, rng).tolist()]
