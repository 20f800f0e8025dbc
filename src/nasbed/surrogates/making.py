"""From a results table to a surrogate benchmark, in one step."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed_version
from typing import Any

import numpy as np

import nasbed
from nasbed.core.errors import InvalidOption, nearest
from nasbed.core.metric import Metric
from nasbed.results.store import Results
from nasbed.surrogates import SURROGATES
from nasbed.surrogates.artefact import Artefact
from nasbed.surrogates.artefact_manifest import ArtefactManifest, LevelsRecord, ModelRecord, artefact_name
from nasbed.surrogates.base import Progress, Surrogate
from nasbed.surrogates.counted_costs import ExactCosts
from nasbed.surrogates.curves.fit import fit_curves
from nasbed.surrogates.curves.model import CurveModel
from nasbed.surrogates.ensemble import Ensemble, FitOptions, ensemble_of
from nasbed.surrogates.examples import Examples
from nasbed.surrogates.noise.repeats import FEWEST_ARCHITECTURES, RepeatNoise, learn_repeat_noise
from nasbed.surrogates.quality import fit_figures, noise_figures, runtime_figures
from nasbed.surrogates.runtime import RUNTIME_MODEL, fit_runtime, timed
from nasbed.surrogates.table_split import TableSplit, manifest_sha256

LIBRARIES = ("numpy", "scipy", "scikit-learn", "lightgbm", "xgboost-cpu", "xgboost", "ngboost", "torch")
RUNTIME_SHARE = 0.05
"""How much of the time of making a surrogate its runtime model takes, for the progress."""


def make_surrogate(
    data: Results | TableSplit,
    model: str,
    *,
    metric: Metric | None = None,
    fidelity: int | None = None,
    methods: Sequence[str] | None = None,
    members: int = 10,
    settings: Mapping[str, Any] | None = None,
    runtime: str | None = RUNTIME_MODEL,
    runtime_method: str | None = None,
    runtime_settings: Mapping[str, Any] | None = None,
    variant: str = "",
    version: str = "1.0",
    skeleton: Mapping[str, Any] | None = None,
    compact: bool = False,
    noise: str | None = None,
    seed: int | None = None,
    processes: int = 1,
    progress: Progress | None = None,
) -> Artefact:
    """Fit a surrogate benchmark on a table's evaluations.

    The ensemble is fitted on the train and validation parts by cross-validation; the figures of the manifest are those
    of the test part. Figures that begin with ``others_`` are of the architectures that no chosen method evaluated.

    Args:
        data: A split of a table, at one fidelity or at all; a table alone is split by ``metric``, ``fidelity``,
            ``methods`` and ``seed``.
        model: The id of the model, such as ``lgb``.
        metric: The predicted metric; the table's validation metric by default.
        fidelity: That of the evaluations; the highest by default.
        methods: Use only what these search methods evaluated.
        members: How many models the ensemble has.
        settings: What differs from the model's default settings.
        runtime: The model of the training time; ``None`` for none.
        runtime_method: Fit the runtime model on one method's evaluations, for a table whose methods ran on different
            hardware (appendix E.4).
        runtime_settings: What differs from the runtime model's default settings; tuning for ``train_time_s`` finds it.
        variant: What the name says of ``methods``: ``rand`` for random search alone.
        version: The version in the name.
        skeleton: Settings of the network around the cells, for counting costs; the space's usual ones by default.
        compact: Make the artefact small: trees in single precision, without their libraries' own files.
        noise: One of :data:`NOISES`; ``repeats`` by default where the table has enough of them.
        seed: Of the fits; that of the split by default, and 0 for a table alone.
        processes: How many members are fitted at a time.
        progress: Called with the share that is done, from 0 to 1.
    """
    _check_objective(metric)
    split = TableSplit.from_data(data, metric=metric, fidelity=fidelity, methods=methods, seed=seed or 0)
    _check_objective(split.metric)
    split.check_parts("test")
    results, metric, seed = split.results, split.metric, split.seed if seed is None else seed
    train, test, unchosen = split.fitted, split.test, split.unchosen
    times = timed(train, runtime_method) if runtime is not None else None
    repeat_noise = table_noise(split, noise)
    share = 1 - RUNTIME_SHARE if times is not None else 1.0
    partly = None if progress is None else lambda part: progress(part * share)
    options = FitOptions(members, settings, seed, processes, partly)
    curves = None
    if train.levels is None:
        ensemble = ensemble_of(model, results.space, train, options)
        if repeat_noise is not None:
            sampled = replace(ensemble.noise, repeats=None, table_repeats=repeat_noise.curve)
            ensemble = Ensemble(ensemble.members, sampled)
        if compact:
            ensemble = Ensemble([member.compact() for member in ensemble.members], ensemble.noise)
    else:
        fitted = fit_curves(model, results.space, train, options)
        curves = fitted.curves
        models = [member.compact() for member in fitted.models] if compact else fitted.models
        ensemble = curves.ensemble(models, split.fidelity)
    figures = fit_figures(ensemble, test, metric)
    if len(unchosen):
        figures |= {f"others_{name}": value for name, value in fit_figures(ensemble, unchosen, metric).items()}
    clock = None
    if runtime is not None and times is not None:
        # trees over the features that a member of trees has, so that one walk answers for both
        joint = ensemble.members[0].joint_settings(SURROGATES.get(runtime))
        settings_of_clock = {**(runtime_settings or {}), **joint}
        clock = fit_runtime(runtime, results.space, times, seed=seed, settings=settings_of_clock)
        clock = clock.compact() if compact else clock
        figures |= runtime_figures(clock, timed(test, runtime_method))
    if progress is not None:
        progress(1.0)
    dataset = results.about.dataset or results.about.name.split("/")[-1]
    manifest = ArtefactManifest(
        name=artefact_name(results.about.space, dataset, model, variant=variant, version=version),
        space=results.about.space,
        dataset=dataset,
        metric=metric,
        fidelity=split.fidelity,
        members=_record(ensemble.members),
        runtime=None if clock is None else _record([clock]),
        exact=_exact(results, dataset, skeleton),
        figures=_plain(figures),
        provenance=_provenance(split, train, test)
        | ({} if skeleton is None else {"skeleton": dict(skeleton)})
        | ({} if repeat_noise is None else {"table_noise": repeat_noise.to_json()}),
        licence=results.about.licence,
        citation=results.about.citation,
        space_definition=results.space.definition(),
        nasbed_version=nasbed.__version__,
        libraries=_libraries(),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        levels=None if curves is None else _levels(curves, ensemble.members, clock, test, metric),
    )
    return Artefact(manifest, ensemble, clock, curves)


NOISES = ("repeats", "ensemble")
"""Where the noise that queries sample comes from: the repeats of the table, one curve for every surrogate of the table;
or each fit by itself, from the repeats among its evaluations, without any from its errors."""


def table_noise(split: TableSplit, noise: str | None = None) -> RepeatNoise | None:
    """The noise of the table's repeats, the same for all surrogates of a table and a seed of the split. ``None`` where
    ``ensemble`` is chosen, or where nothing is and the table has too few repeats.

    It is learned from the evaluations by all methods, whichever the split has chosen, that are never held out.
    """
    if noise is not None and noise not in NOISES:
        raise InvalidOption(f"no noise is called {noise!r}; {nearest(noise, NOISES)}")
    if split.rows.levels is not None and noise is not None:
        raise InvalidOption(
            "a surrogate of all fidelities learns the noise of each from what it is fitted on; omit the noise"
        )
    if noise == "ensemble" or split.rows.levels is not None:
        return None
    rows = split.never_held_out
    learned = learn_repeat_noise(rows.y, rows.architecture)
    if learned is None and noise is not None:
        raise InvalidOption(
            f"the noise of repeats needs at least {FEWEST_ARCHITECTURES} architectures with several evaluations to "
            f"learn from, {split.name} has fewer; choose the noise ensemble"
        )
    return learned


def _check_objective(metric: Metric | None) -> None:
    if metric is not None and metric.split == "test":
        raise InvalidOption(f"a search optimises a validation metric, got {metric.key}; name another")


def _levels(
    curves: CurveModel,
    models: Sequence[Surrogate[Any]],
    clock: Surrogate[Any] | None,
    test: Examples,
    metric: Metric,
) -> LevelsRecord:
    """The fidelities of a surrogate of several, with the figures of the test part at each.

    Args:
        curves: What makes curves of the models.
        models: Those of all members.
        clock: The runtime model.
        test: The trainings of the test part.
        metric: What is predicted.
    """
    figures = []
    for fidelity, share in zip(curves.fidelities, curves.time_shares, strict=True):
        at, ensemble = test.at(fidelity), curves.ensemble(models, fidelity)
        own = fit_figures(ensemble, at, metric) | noise_figures(ensemble, at)
        if clock is not None:
            own |= runtime_figures(clock, timed(at, None), share=share)
        figures.append(_plain(own))
    return LevelsRecord(curves.fidelities, len(curves.basis), tuple(figures))


def _plain(figures: Mapping[str, float]) -> dict[str, float | None]:
    """Figures as JSON knows them."""
    return {key: None if math.isnan(value) else value for key, value in figures.items()}


def _record(members: Sequence[Surrogate[Any]]) -> ModelRecord:
    first = members[0]
    return ModelRecord(first.name, asdict(first.settings), tuple(member.seed for member in members))


def _exact(results: Results, dataset: str, skeleton: Mapping[str, Any] | None) -> tuple[str, ...]:
    """The costs that are counted: those of the space, unless the table has other parameters, so that its networks are
    not those that the space counts for."""
    costs = ExactCosts(results.space, dataset, skeleton)
    names = tuple(metric.name for metric in costs.metrics)
    if "parameters" not in names or "parameters" not in results.about.by_key:
        return names
    rows = next(results.batches())
    recorded = rows.values["parameters"]
    parameter_counts = costs(results.space.canonical_codes(rows.codes[:1000]))[:, names.index("parameters")]
    is_recorded = np.isfinite(recorded[:1000])
    agree = np.mean(parameter_counts[is_recorded] == recorded[:1000][is_recorded]) > 0.9 if is_recorded.any() else True
    return names if agree else ()


# --- where it comes from ---------------------------------------------------------------------------------------------


def _provenance(split: TableSplit, fitted: Examples, test: Examples) -> dict[str, Any]:
    """What the artefact was fitted on, and what :meth:`TableSplit.recorded` needs to make the same split."""
    info = split.results.about
    names, counts = np.unique(fitted.method, return_counts=True)
    return {
        "table": info.name,
        "table_source": info.source,
        "table_manifest_sha256": manifest_sha256(split.results),
        "methods": dict(zip(names.tolist(), counts.tolist(), strict=True)),
        "methods_chosen": None if split.methods is None else list(split.methods),
        "rows": len(fitted),
        "architectures": len(np.unique(fitted.architecture)),
        "test_rows": len(test),
        "test_architectures": len(np.unique(test.architecture)),
        "seeds": np.unique(fitted.seed).tolist()[:100],
        "split_seed": split.seed,
        **({} if split.at_least is None else {"at_least": split.at_least}),
        **({"one_training": True} if _is_one_training(split) else {}),
        **({"methods_omitted": list(split.omitted)} if split.omitted else {}),
    }


def _is_one_training(split: TableSplit) -> bool:
    """Whether the split's fidelities are epochs of one training: its table was trained at the highest alone."""
    return split.rows.levels is not None and len(split.results.cache().fidelities) == 1


def _libraries() -> dict[str, str]:
    versions = {}
    for name in LIBRARIES:
        try:
            versions[name] = installed_version(name)
        except PackageNotFoundError:
            continue
    return versions
