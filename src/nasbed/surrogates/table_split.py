"""One split of a table, made once and passed to whatever fits, tunes or validates."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nasbed.core.errors import InvalidOption, nearest
from nasbed.core.metric import Metric
from nasbed.results.manifest import FILE_NAME
from nasbed.results.splits import RowSplit, stratified_split
from nasbed.results.store import Results
from nasbed.spaces.base import SearchSpace
from nasbed.surrogates.examples import TRAIN_TIME, Examples, examples, examples_at_all_fidelities, validation_metric

FITTED_ON: tuple[tuple[str, ...] | None, ...] = (None, ("rs",))
"""The methods whose evaluations the surrogates of a release are fitted on: all, and random search alone if there are
any. The latter favours no method (Surrogate NAS Benchmarks, sections 3.1.8 and 5)."""


@dataclass(frozen=True, slots=True)
class TableSplit:
    """The evaluations of a table in three parts: 0.8/0.1/0.1 within each method.

    All evaluations of an architecture, up to isomorphism, are in one part. An ensemble is fitted on the first two parts
    by cross-validation; tuning fits on the first and scores on the second. Nothing is fitted, stopped or chosen by the
    third, the test part.
    """

    results: Results
    metric: Metric
    rows: Examples
    """All evaluations of the metric at one fidelity, as canonical forms; or trainings at all fidelities."""
    parts: RowSplit
    """Numbers of ``rows``: of all, or of those by the chosen methods."""
    seed: int = 0
    methods: tuple[str, ...] | None = None
    """The search methods whose evaluations are split; ``None`` for all."""
    at_least: float | None = None
    """The value below which no evaluation of an architecture in ``rows`` lies; ``None`` where all count."""
    omitted: tuple[str, ...] = ()
    """The search methods whose architectures are not in ``rows``."""

    def __post_init__(self) -> None:
        evaluations = len(self.rows) if self.methods is None else int(np.isin(self.rows.method, self.methods).sum())
        count = sum(map(len, self.parts.parts))
        if count != evaluations:
            raise InvalidOption(f"a split has each of the {evaluations} evaluations in one part, got {count}")
        self.parts.check_architectures(self.rows.architecture)

    @classmethod
    def of(
        cls,
        results: Results,
        *,
        metric: Metric | None = None,
        fidelity: int | None = None,
        methods: Sequence[str] | None = None,
        seed: int = 0,
        at_least: float | None = None,
        all_fidelities: bool = False,
    ) -> TableSplit:
        """Split a table's evaluations.

        Args:
            results: The table.
            metric: The predicted metric; the table's validation metric by default.
            fidelity: That of the evaluations; the highest by default.
            methods: Split only what these search methods evaluated.
            seed: Decides which architecture goes to which part.
            at_least: Leave out architectures with an evaluation that is worse than this.
            all_fidelities: Split the trainings that were evaluated at each fidelity, with all of them.
        """
        metric = metric or validation_metric(results)
        if all_fidelities and fidelity is not None:
            raise InvalidOption(f"a split is of one fidelity or of all, got all and {fidelity}; omit one")
        rows = (
            examples_at_all_fidelities(results, metric=metric)
            if all_fidelities
            else examples(results, metric=metric, fidelity=fidelity)
        ).canonical(results.space)
        if at_least is not None:
            rows = _good_enough(rows, metric, at_least)
        chosen = None if methods is None else tuple(methods)
        return cls(results, metric, rows, _split(rows, chosen, seed), seed, chosen, at_least)

    @classmethod
    def from_data(
        cls,
        data: Results | TableSplit,
        *,
        metric: Metric | None = None,
        fidelity: int | None = None,
        methods: Sequence[str] | None = None,
        seed: int = 0,
    ) -> TableSplit:
        """A split as it is, its seed included, or that of a table. Raises where a split is passed with options that it
        has already.

        Args:
            data: The split or the table.
            metric: As in :meth:`of`.
            fidelity: As in :meth:`of`.
            methods: As in :meth:`of`.
            seed: Of the split of a table; a split keeps its own.
        """
        if not isinstance(data, TableSplit):
            return cls.of(data, metric=metric, fidelity=fidelity, methods=methods, seed=seed)
        if metric is not None or fidelity is not None or methods is not None:
            raise InvalidOption("a split has its metric, fidelity and methods already; omit these options")
        return data

    @classmethod
    def recorded(
        cls,
        results: Results,
        provenance: Mapping[str, Any],
        *,
        metric: Metric,
        fidelity: int,
        all_fidelities: bool = False,
    ) -> TableSplit | None:
        """The split that an artefact records, or ``None`` where it was fitted on another table.

        Args:
            results: The table.
            provenance: What the artefact's manifest says of its data.
            metric: What the artefact predicts.
            fidelity: That of the evaluations it was fitted on.
            all_fidelities: Whether it was fitted on all of them.
        """
        if provenance.get("table_manifest_sha256") != manifest_sha256(results):
            return None
        options = {"methods": provenance.get("methods_chosen"), "at_least": provenance.get("at_least")}
        budget, seed = None if all_fidelities else fidelity, int(provenance.get("split_seed", 0))
        split = cls.of(results, metric=metric, fidelity=budget, seed=seed, all_fidelities=all_fidelities, **options)
        split = split.without(provenance.get("methods_omitted", ()))
        for name, count in {"rows": len(split.parts.fitted), "test_rows": len(split.parts.test)}.items():
            if provenance.get(name, count) != count:
                raise InvalidOption(
                    f"the surrogate records {name} {provenance[name]}, the same split of {results.about.name} has "
                    f"{count}: what it was fitted on is not known; fit it again"
                )
        return split

    def timed(self) -> TableSplit:
        """The same parts for a runtime model: the targets are logarithms of training times, and evaluations without
        one are left out."""
        seconds = self.rows.log_seconds()
        is_timed = np.isfinite(seconds)
        return replace(self, metric=TRAIN_TIME, rows=self.rows.of(seconds), parts=self.parts.kept(is_timed))

    def without(self, methods: Sequence[str]) -> TableSplit:
        """The same split without the architectures that some search methods evaluated, whoever else did too. What
        remains stays in its part."""
        kept = ~self.rows.is_of_architectures_by(methods)
        rows, parts = self.rows.take(kept), self.parts.kept(kept)
        return replace(self, rows=rows, parts=parts, omitted=(*self.omitted, *methods))

    @property
    def name(self) -> str:
        """The name of the table."""
        return self.results.about.name

    @property
    def space(self) -> SearchSpace:
        return self.results.space

    @property
    def fidelity(self) -> int:
        return self.rows.fidelity

    @property
    def train(self) -> Examples:
        return self.rows.take(self.parts.train)

    @property
    def validation(self) -> Examples:
        return self.rows.take(self.parts.validation)

    @property
    def test(self) -> Examples:
        return self.rows.take(self.parts.test)

    @property
    def fitted(self) -> Examples:
        """The train and validation parts, in the order of the table."""
        return self.rows.take(self.parts.fitted)

    @property
    def unchosen(self) -> Examples:
        """The evaluations of architectures that none of the chosen methods evaluated."""
        split = np.concatenate(self.parts.parts)
        return self.rows.take(~np.isin(self.rows.architecture, self.rows.architecture[split]))

    @property
    def never_held_out(self) -> Examples:
        """The evaluations, by any method, of architectures that are in no test part: neither in this one nor in that of
        a surrogate of all methods or of random search, with the same seed. So these have the same ones."""
        rows, held_out = self.rows, [self.rows.architecture[self.parts.test]]
        for methods in FITTED_ON:
            if methods is None or np.isin(methods, rows.method).all():
                held_out.append(rows.architecture[_split(rows, methods, self.seed).test])
        return rows.take(~np.isin(rows.architecture, np.concatenate(held_out)))

    @property
    def fitted_sha256(self) -> str:
        """The fingerprint of what may be fitted on: the architectures and values of the first two parts."""
        return _digest(self.train, self.validation)

    @property
    def test_sha256(self) -> str:
        """The fingerprint of the test part."""
        return _digest(self.test)

    def check_parts(self, *names: str) -> None:
        """Raise if one of these parts, by default any, is empty."""
        counts = {
            "train": len(self.parts.train),
            "validation": len(self.parts.validation),
            "test": len(self.parts.test),
        }
        if all(counts[name] for name in names or counts):
            return
        total = sum(counts.values())
        if not total:
            raise InvalidOption(f"{self.name} has no evaluation with {self.metric.key}; choose another metric or table")
        raise InvalidOption(
            f"a tenth of the architectures is for validation and a tenth for testing, {self.name} has too few: "
            f"{total} {'evaluation' if total == 1 else 'evaluations'}; choose a table with more architectures"
        )


def _split(rows: Examples, methods: Sequence[str] | None, seed: int) -> RowSplit:
    """The split of all rows, or of those by some methods."""
    indices = np.arange(len(rows)) if methods is None else np.flatnonzero(rows.is_by(methods))
    parts = stratified_split(rows.method[indices], rows.architecture[indices], np.random.default_rng(seed))
    return parts.within(indices)


def _good_enough(rows: Examples, metric: Metric, at_least: float) -> Examples:
    """The evaluations of architectures none of whose evaluations is worse than a value."""
    if math.isnan(at_least):
        raise InvalidOption("evaluations are compared with a number (--at-least), got nan; name another")
    worse = rows.y < at_least if metric.direction == "maximize" else rows.y > at_least
    kept = rows.take(~np.isin(rows.architecture, rows.architecture[worse]))
    if not len(kept):
        raise InvalidOption(f"no architecture has every {metric.key} at least as good as {at_least:g}; choose another")
    return kept


def manifest_sha256(results: Results) -> str:
    """The checksum by which an artefact knows the table that it was fitted on."""
    return hashlib.sha256((results.folder / FILE_NAME).read_bytes()).hexdigest()


def _digest(*parts: Examples) -> str:
    digest = hashlib.sha256()
    for part in parts:
        for column in (part.codes, part.y):
            digest.update(np.ascontiguousarray(column).tobytes())
    return digest.hexdigest()


def search_metric(results: Results, key: str | None) -> Metric | None:
    """The metric of a table with that key, which a search can optimise; None for none, which is the table's own."""
    if key is None:
        return None
    by_key = results.about.by_key
    if key not in by_key:
        raise InvalidOption(f"{results.about.name} has no metric {key!r}; {nearest(key, by_key)}")
    if by_key[key].split == "test":
        raise InvalidOption(f"a search optimises a validation metric, got {key}; name another with --metric")
    return by_key[key]
