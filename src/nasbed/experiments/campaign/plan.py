"""A campaign as data: what is evaluated, which methods propose it, how often."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, field, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from nasbed.core.calls.arguments import check_location
from nasbed.core.errors import BadFile, InvalidOption, NasbedError, nearest, shorten
from nasbed.optimizers.presets import METHOD_PRESETS
from nasbed.spaces.filling import DESIGNS

POOR = "poor"
"""The share that is drawn from the known-poor region, see :mod:`nasbed.experiments.campaign.poor_region`."""
DRAWN = (POOR, *DESIGNS)
"""The shares that are no search method: the poor region, and the space-filling designs ``sobol`` and ``lhs``."""
ALL = "all"
OPTIONS = ("name", "space", "seed", "trials", "round", "training_seed", "preset")
"""The keys of the table [campaign]."""
NOT_METHODS = ("fill", "grid", "repeats")
"""The labels of trials that belong to no share."""
T = TypeVar("T")
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*(/[a-z0-9][a-z0-9._-]*)*")


@dataclass(frozen=True, slots=True)
class Repeats:
    """The noise study: ``architectures`` of a method's trials, drawn at random, are evaluated with ``seeds`` seeds in
    all. Without ``source``, of all shares together."""

    architectures: int
    seeds: int
    source: str | None = None

    def __post_init__(self) -> None:
        _check_integer("[repeats] architectures", self.architectures, low=1)
        _check_integer("[repeats] seeds", self.seeds, low=2)


@dataclass(frozen=True, slots=True)
class Grid:
    """A list of architectures, each with all these seeds and fidelities.

    ``architectures`` are texts, or a file with one per line. ``"all"`` are all of a space that can be listed,
    ``"functions"`` one per function that such a space computes, ``"nb101:5"`` the unique cells of up to five vertices,
    ``"topologies"`` all 180 topologies of a darts cell with ten sets of operations.
    Without ``fidelities``, or with ``"all"``, the grid has all fidelities of the trainer.
    """

    architectures: str | tuple[str, ...]
    seeds: tuple[int, ...] = (0,)
    fidelities: tuple[int, ...] | str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.architectures, str):
            object.__setattr__(self, "architectures", _sequence("[grid] architectures", self.architectures, str))
        object.__setattr__(self, "seeds", _sequence("[grid] seeds", self.seeds, int))
        if isinstance(self.fidelities, str) and self.fidelities == ALL:
            object.__setattr__(self, "fidelities", None)
        elif self.fidelities is not None:
            object.__setattr__(self, "fidelities", _sequence("[grid] fidelities", self.fidelities, int))


@dataclass(frozen=True, slots=True)
class Trajectories:
    """The architectures that one-shot searches went through. ``searches`` are the records that ``nasbed oneshot``
    writes, as paths or patterns relative to the campaign's file."""

    searches: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "searches", _sequence("[trajectories] searches", self.searches, str))


@dataclass(frozen=True, slots=True)
class RealSearches:
    """Searches that run for real, in lock step: each of ``methods`` searches ``seeds`` times, apart from the others,
    for ``evaluations`` trainings, ``workers`` of them at a time. A round has the next proposals of all searches."""

    methods: tuple[str, ...]
    seeds: int
    evaluations: int
    workers: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "methods", _sequence("[searches] methods", self.methods, str))
        for name in ("seeds", "evaluations", "workers"):
            _check_integer(f"[searches] {name}", getattr(self, name), low=1)

    @property
    def names(self) -> list[tuple[str, int]]:
        """The method and the number of each search."""
        return [(method, number) for method in self.methods for number in range(self.seeds)]

    @property
    def batches(self) -> list[int]:
        """The number of proposals that each search is asked for in each of its rounds."""
        return self.batches_after(0)

    def batches_after(self, evaluations: int) -> list[int]:
        """Those of a search that already has some evaluations."""
        whole, rest = divmod(self.evaluations - evaluations, self.workers)
        return [self.workers] * whole + ([rest] if rest else [])

    def number_of(self, seed: int, first: int) -> int:
        """The number of the search that trains with a seed, where the first one has the seed ``first``."""
        return (seed - first) % self.seeds


@dataclass(frozen=True, slots=True)
class Campaign:
    """Everything that determines the trials of a campaign, except the trainer.

    ``trials`` are shared out by ``shares``; those of ``repeats``, ``grid``, ``trajectories`` and ``searches`` come on
    top. A round is proposed jointly and knows the results of all rounds before; without ``round``, the trainer says how
    many trials are one. ``training_seed`` is that of every trial that no noise study, grid or search asks for.
    ``trainer`` is the table of that name in a file, from which
    :func:`~nasbed.experiments.campaign.trainer.trainer_of` makes one.
    """

    name: str
    trials: int = 0
    shares: Mapping[str, float] = field(default_factory=dict)
    seed: int = 0
    round: int | None = None
    training_seed: int = 0
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    preset: str = ""
    """The paper that settings are from, where ``settings`` has no other; see :mod:`nasbed.optimizers.presets`."""
    repeats: Repeats | None = None
    grid: Grid | None = None
    trajectories: Trajectories | None = None
    searches: RealSearches | None = None
    space: str = ""
    trainer: Mapping[str, Any] = field(default_factory=dict)
    folder: Path = field(default_factory=Path, compare=False)
    """The folder to which paths in the file are relative."""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            raise InvalidOption(
                f"a campaign's name is lower-case words of a-z 0-9 . _ - joined by /, got {shorten(self.name)}"
            )
        _check_integer("trials", self.trials, low=0)
        _check_integer("seed", self.seed, low=0)
        _check_integer("training_seed", self.training_seed, low=0)
        if self.round is not None:
            _check_integer("round", self.round, low=1)
        for name in ("shares", "settings", "trainer"):
            if not isinstance(getattr(self, name), Mapping):
                raise InvalidOption(f"{name} of a campaign is a table, got {shorten(getattr(self, name))}")
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))
        self._check_shares()
        self._check_searches()
        if not isinstance(self.preset, str):
            raise InvalidOption(f"preset of a campaign is a name, such as snb, got {shorten(self.preset)}")
        if self.preset:
            METHOD_PRESETS.get(self.preset)
        for name, values in self.settings.items():
            if name not in self.methods or not isinstance(values, Mapping):
                raise InvalidOption(
                    f"[settings.{name}] is a table for a method that has a share or searches; these have: "
                    f"{', '.join(self.methods)}"
                )
        if self.repeats is not None and self.repeats.source not in (None, *self.methods):
            raise InvalidOption(
                f"[repeats] from names a share or a method that searches, got {shorten(self.repeats.source)}; "
                f"{nearest(str(self.repeats.source), self.methods)}"
            )
        if self.repeats is not None and not self.methods:
            raise InvalidOption("[repeats] draws from the trials of shares or searches, got none; add some")
        if not self.methods and self.grid is None and self.trajectories is None:
            raise InvalidOption(
                "a campaign has trials and shares, or a [grid], [trajectories] or [searches]; this one has none"
            )

    @property
    def methods(self) -> tuple[str, ...]:
        """The names of the shares, and the methods that search."""
        return (*self.shares, *(() if self.searches is None else self.searches.methods))

    def settings_of(self, name: str) -> dict[str, Any]:
        """The settings of a share or a method that searches: those of the file, and of the preset where it has none."""
        preset = METHOD_PRESETS.get(self.preset) if self.preset else None
        published = preset.settings(name) if preset is not None and preset.covers(name) else {}
        return {**published, **self.settings.get(name, {})}

    def _check_searches(self) -> None:
        for name in () if self.searches is None else self.searches.methods:
            if name in (*NOT_METHODS, *DRAWN):
                raise InvalidOption(f"[searches] methods search, {name!r} has another meaning; omit it")
            if name in self.shares:
                raise InvalidOption(f"{name} has a share and searches, and its trials would mix; choose one")

    def _check_shares(self) -> None:
        for name, share in self.shares.items():
            if name in NOT_METHODS:
                raise InvalidOption(
                    f"a share is for a method or one of {', '.join(DRAWN)}; {name!r} has another meaning, omit it"
                )
            if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share <= 1:
                raise InvalidOption(f"a share lies above 0 and up to 1, got {shorten(share)} for {name}")
        total = math.fsum(self.shares.values())
        if self.trials and not math.isclose(total, 1, abs_tol=1e-6):
            raise InvalidOption(f"shares add up to 1, got {total:g}; change one")
        if self.shares and not self.trials:
            raise InvalidOption("shares divide the trials, got 0 trials; raise trials")

    def identity(self) -> dict[str, Any]:
        """The values that two campaigns on one journal must have in common, as plain values. The trainer and the
        trajectories have their own identities, independent of file names."""
        data: dict[str, Any] = {
            name: getattr(self, name) for name in ("name", "trials", "seed", "round", "training_seed")
        }
        data |= {
            "shares": dict(self.shares),
            "settings": {
                name: own
                for name in dict.fromkeys([*self.settings, *self.methods])
                if (own := self.settings_of(name)) or name in self.settings
            },
        }
        for name, part in (("repeats", self.repeats), ("grid", self.grid)):
            data[name] = None if part is None else asdict(part)
        return data | ({} if self.searches is None else {"searches": asdict(self.searches)})

    # --- as a file ---------------------------------------------------------------------------------------------------

    @classmethod
    def read(cls, path: str | Path) -> Campaign:
        """The campaign in a TOML file."""
        check_location("a campaign is a Campaign or the path of its file", path)
        path = Path(path)
        try:
            data = tomllib.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise BadFile(f"there is no campaign file {path}; docs/how-to/collecting.md has an example") from None
        except (OSError, ValueError) as error:
            raise BadFile(f"{path} cannot be read as TOML: {next(iter(str(error).splitlines()), '')}; fix it") from None
        try:
            return cls.parse(data, folder=path.parent)
        except NasbedError as error:
            raise BadFile(f"{path}: {error}") from None

    @classmethod
    def parse(cls, data: Mapping[str, Any], *, folder: str | Path = Path()) -> Campaign:
        """The campaign that such tables describe."""
        folder = Path(folder)
        tables = ("campaign", "trainer", "shares", "settings", "repeats", "grid", "trajectories", "searches")
        _check_names("table", data, tables)
        options = _table(data, "campaign")
        _check_names("[campaign] key", options, OPTIONS)
        if "name" not in options:
            raise InvalidOption("[campaign] has a name, got none; add one")
        repeats = grid = trajectories = searches = None
        if "repeats" in data:
            table: Mapping[str, Any] = _table(data, "repeats")
            _check_names("[repeats] key", table, ("architectures", "seeds", "from"))
            repeats = _from_table(
                Repeats, "[repeats]", {"source" if name == "from" else name: table[name] for name in table}
            )
        if "grid" in data:
            table = _table(data, "grid")
            _check_names("[grid] key", table, ("architectures", "seeds", "fidelities"))
            grid = _from_table(Grid, "[grid]", table)
        if "trajectories" in data:
            table = _table(data, "trajectories")
            _check_names("[trajectories] key", table, ("searches",))
            trajectories = _from_table(Trajectories, "[trajectories]", table)
        if "searches" in data:
            table = _table(data, "searches")
            _check_names("[searches] key", table, ("methods", "seeds", "evaluations", "workers"))
            searches = _from_table(RealSearches, "[searches]", table)
        subtables: dict[str, Any] = {
            name: _table(data, name) for name in ("shares", "settings", "trainer") if name in data
        }
        return cls(
            **options,
            **subtables,
            repeats=repeats,
            grid=grid,
            trajectories=trajectories,
            searches=searches,
            folder=folder,
        )

    def toml(self) -> str:
        """The campaign as the text of a file, which :meth:`parse` reads back."""
        import tomli_w

        options = {name: getattr(self, name) for name in OPTIONS if name != "preset" or self.preset}
        tables: dict[str, Any] = {"campaign": options, "trainer": self.trainer, "shares": self.shares}
        tables["settings"] = {name: values for name, values in self.settings.items() if values}
        if self.repeats is not None:
            data = asdict(self.repeats)
            tables["repeats"] = {"from" if name == "source" else name: value for name, value in data.items()}
        if self.grid is not None:
            tables["grid"] = asdict(self.grid)
        for name, part in (("trajectories", self.trajectories), ("searches", self.searches)):
            if part is not None:
                tables[name] = asdict(part)
        plain = {
            title: {key: value for key, value in table.items() if value is not None} for title, table in tables.items()
        }
        return tomli_w.dumps({title: table for title, table in plain.items() if table})


def _check_integer(name: str, value: object, *, low: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < low:
        raise InvalidOption(f"{name} of a campaign is a whole number of at least {low}, got {shorten(value)}")


def _sequence(name: str, values: object, kind: type) -> tuple[Any, ...]:
    items = tuple(values) if isinstance(values, Sequence) and not isinstance(values, str) else ()
    plain = all(isinstance(value, kind) and not isinstance(value, bool) for value in items)
    if not items or not plain or len(set(items)) < len(items):
        noun = "numbers" if kind is int else "texts"
        raise InvalidOption(f"{name} are one or more different {noun}, got {shorten(values)}")
    return items


def _table(data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    table = data.get(name)
    if not isinstance(table, Mapping):
        raise InvalidOption(f"a campaign has a table [{name}], got {shorten(table)}; add it")
    return table


def _check_names(kind: str, names: Mapping[str, Any], choices: Sequence[str]) -> None:
    for name in names:
        if name not in choices:
            raise InvalidOption(f"a campaign has no {kind} {name!r}; {nearest(name, choices)}")


def _from_table(kind: type[T], title: str, values: Mapping[str, Any]) -> T:
    needed = [item.name for item in fields(kind) if item.default is MISSING]  # type: ignore[arg-type]
    for name in needed:
        if name not in values:
            raise InvalidOption(f"{title} has {' and '.join(needed)}, got no {name}; add it")
    return kind(**values)
