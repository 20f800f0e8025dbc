"""What every search space can do."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nasbed.core.architecture import Architecture
from nasbed.core.errors import (
    InvalidArchitecture,
    InvalidOption,
    NasbedError,
    TooLarge,
    UnknownName,
    nearest,
    shorten,
)
from nasbed.spaces.config_form import ConfigForm
from nasbed.spaces.edits import Pairs, config_choices, config_edits, differing_choices, listed_pairs, option_changes
from nasbed.spaces.facts import (
    NONE,
    CellGraph,
    Choices,
    CrossedList,
    Edit,
    NamedArchitecture,
    NamedPart,
    OperationChanges,
    Operations,
)
from nasbed.spaces.graph import Diagram, Graphs

Codes = NDArray[np.int64]
"""A batch of architectures as their codes, ``[n, code_length]``."""

Batch = Sequence[Architecture] | Codes
"""What every vectorised method takes: architectures, or their codes if you already hold them as an array.

Codes are trusted: check what comes from outside with :meth:`SearchSpace.validate`."""

ArchitectureLike = Architecture | str | Mapping[str, Any]
"""An architecture, its text, or its configuration: a dictionary or a ConfigSpace ``Configuration``."""

LISTABLE = 10_000_000
"""Spaces up to this size can be enumerated."""

_NONE_BY_NAME: Mapping[str, Any] = {}


class SearchSpace(ConfigForm):
    """A set of architectures as plain values. It holds no network, no table and no state.

    An architecture's ``code`` is a tuple of ``code_length`` integers whose meaning the space's own docstring gives.
    Methods on single architectures trust their argument; :meth:`validate` is for what comes from outside, and
    :meth:`parse`, :meth:`from_native` and :meth:`from_config` always validate.
    """

    name: str
    title: str
    citation: str
    code_length: int
    encodings: ClassVar[tuple[str, ...]] = ("onehot", "config")
    is_listed: bool = False
    """Whether it is a list of architectures, which is met only by drawing from it."""

    # --- facts: whatever the rest of the package wants to know of a space, it asks here ------------------------------

    skeleton: type[Any] | None = None
    """The dataclass of the network around the cells. Its defaults are the usual network; None where nothing is set."""

    published_skeletons: Mapping[str, Any] = _NONE_BY_NAME
    """The skeletons of published networks by dataset, where these differ from the usual one."""

    operations: Operations | None = None
    """Where a code has operations and which of them have no parameters; None where no choice is an operation."""

    cell_graph: CellGraph | None = None
    """The cells as one-shot methods see them; None for a space without such cells."""

    shape_properties: tuple[str, ...] = ()
    """The :meth:`properties` that describe the shape of a cell, such as its depth."""

    parts: Mapping[str, NamedPart] = _NONE_BY_NAME
    """The parts of the space that have a name."""

    named: Mapping[str, NamedArchitecture] = _NONE_BY_NAME
    """The architectures that have a name, which :meth:`parse` reads too."""

    designs: Mapping[str, CrossedList] = _NONE_BY_NAME
    """The lists of architectures that have a name, which an experiment asks for."""

    # --- the space ---------------------------------------------------------------------------------------------------

    @property
    @abstractmethod
    def size(self) -> int:
        """How many architectures there are, exactly."""

    def counts(self) -> dict[str, int]:
        """What :meth:`enumerate` yields, counted by listing it: the total, and before it the parts of a space that has
        some."""
        return {"total": sum(1 for _ in self.enumerate())}

    def enumerate(self) -> Iterator[Architecture]:
        """Every architecture once, in order, for a space small enough to list."""
        if self.size > LISTABLE:
            raise TooLarge(
                f"a space of up to {LISTABLE:,} architectures can be listed, {self.name} has about "
                f"10^{len(str(self.size)) - 1}; use sample"
            )
        return self._enumerate()

    def _enumerate(self) -> Iterator[Architecture]:
        raise TooLarge(f"the space {self.name} cannot be listed; use sample")

    def all_codes(self) -> Codes:
        """The codes of all that :meth:`enumerate` yields."""
        return self.codes(list(self.enumerate()))

    def codes_up_to(self, limit: str) -> Codes:
        """The codes of all architectures up to a size, in a space whose architectures have sizes."""
        raise InvalidOption(f"architectures of {self.name} have no sizes, got the limit {shorten(limit)}; omit it")

    # --- moving in it ------------------------------------------------------------------------------------------------

    @abstractmethod
    def sample(self, rng: np.random.Generator) -> Architecture:
        """A random architecture; uniform over the encoded space unless the space says otherwise."""

    @abstractmethod
    def neighbors(self, arch: Architecture) -> Iterator[Architecture]:
        """Every architecture one edit away, each once, in a fixed order. Being a neighbour is mutual."""

    def edits(self, arch: Architecture) -> Iterator[Edit]:
        """The :meth:`neighbors` in their order, each with the choice that it changes; by default the parameter of the
        ConfigSpace in which the two differ."""
        return config_edits(self, arch)

    def mutate(self, arch: Architecture, rng: np.random.Generator) -> Architecture:
        """A random neighbour, uniformly unless the space has a mutation of its own; the architecture itself if it has
        no neighbour."""
        choices = list(self.neighbors(arch))
        return choices[int(rng.integers(len(choices)))] if choices else arch

    def canonical(self, arch: Architecture) -> Architecture:
        """The one representative of all architectures that compute the same family of functions by isomorphism."""
        return arch

    def canonical_codes(self, archs: Batch) -> Codes:
        """:meth:`canonical` of a batch, as codes."""
        codes = self.codes(archs)
        if type(self).canonical is SearchSpace.canonical:
            return codes
        return self.codes([self.canonical(arch) for arch in self.architectures(codes)])

    def isomorphic_forms(self, arch: Architecture) -> Iterator[Architecture]:
        """The architectures that are the same one in another numbering of its nodes, itself included, each once, in
        order. Where a space has no such numbering, the architecture alone."""
        yield arch

    # --- checking ----------------------------------------------------------------------------------------------------

    def validate(self, arch: Architecture) -> None:
        """Raise :class:`~nasbed.core.errors.InvalidArchitecture` unless ``arch`` is in this space."""
        if not isinstance(arch, Architecture):
            raise InvalidArchitecture(
                f"{self.name} takes an Architecture, got {type(arch).__name__} {shorten(arch)}; make one with parse "
                "or from_native"
            )
        if arch.space != self.name:
            raise InvalidArchitecture(
                f"this architecture belongs to the space {arch.space!r}, not {self.name!r}; ask that space"
            )
        if type(arch.code) is not tuple or len(arch.code) != self.code_length:
            raise InvalidArchitecture(
                f"a {self.name} code is a tuple of {self.code_length} integers, got {shorten(arch.code)}; make one "
                "with parse or from_native"
            )
        for item in arch.code:
            if type(item) is not int:
                raise InvalidArchitecture(
                    f"a {self.name} code holds plain integers, got {type(item).__name__} {item!r} in "
                    f"{shorten(arch.code)}"
                )
        self._check_code(arch.code)

    @abstractmethod
    def _check_code(self, code: tuple[int, ...]) -> None:
        """Raise unless this code, of the right length and types, is in the space."""

    # --- text and foreign forms --------------------------------------------------------------------------------------

    @abstractmethod
    def format(self, arch: Architecture) -> str:
        """One line of text for people and command lines; :meth:`parse` reads it back."""

    @abstractmethod
    def parse(self, text: str) -> Architecture:
        """The architecture that a text describes; raises on anything else."""

    @abstractmethod
    def to_native(self, arch: Architecture) -> Any:
        """The architecture as the space's own community writes it in Python."""

    @abstractmethod
    def from_native(self, obj: Any) -> Architecture:
        """The inverse of :meth:`to_native`; raises on anything else."""

    def is_valid(self, like: ArchitectureLike) -> bool:
        """Whether an architecture, its text or its configuration is in this space. A configuration sets exactly its
        active parameters; nothing is repaired.

        >>> import nasbed
        >>> cell = "|none~0|+|none~0|none~1|+|none~0|none~1|none~2|"
        >>> [nasbed.space("nb201").is_valid(text) for text in (cell, "junk")]
        [True, False]
        """
        try:
            self.validate(self.architecture(like))
        except NasbedError:
            return False
        return True

    def named_architecture(self, name: str) -> Architecture:
        """The architecture of that name."""
        if not self.named:
            raise UnknownName(f"{self.name} has no named architectures, got {shorten(name)}; give its text")
        if name not in self.named:
            names = ", ".join(f"{known} ({named.title})" for known, named in self.named.items())
            raise UnknownName(f"{self.name} has no architecture named {shorten(name)}; named are: {names}")
        return self.parse(self.named[name].text)

    def unique_neighbors(self, arch: Architecture) -> list[Architecture]:
        """The :meth:`neighbors` of all :meth:`isomorphic_forms`, in canonical form, each once, without itself."""
        near = [neighbor for form in self.isomorphic_forms(arch) for neighbor in self.neighbors(form)]
        codes = np.unique(self.canonical_codes(near), axis=0)
        return [other for other in self.architectures(codes) if other != self.canonical(arch)]

    def architecture(self, like: ArchitectureLike) -> Architecture:
        """The architecture that is given as itself, by its text (:meth:`parse`) or by its configuration
        (:meth:`from_config`). An :class:`~nasbed.core.architecture.Architecture` is returned unchecked."""
        if isinstance(like, Architecture):
            return like
        if isinstance(like, str):
            return self.parse(like)
        if isinstance(like, Mapping):
            return self.from_config(like)
        raise InvalidArchitecture(
            f"{self.name} takes an Architecture, its text or its configuration, got {type(like).__name__} "
            f"{shorten(like)}; make one with parse or from_native"
        )

    # --- batches -----------------------------------------------------------------------------------------------------

    def codes(self, archs: Batch) -> Codes:
        """The codes of a batch as an array ``[n, code_length]``."""
        if isinstance(archs, np.ndarray):
            if archs.ndim != 2 or archs.shape[1] != self.code_length or archs.dtype.kind not in "iu":
                raise InvalidOption(
                    f"a batch of {self.name} codes is an integer array [n, {self.code_length}], got {archs.dtype} "
                    f"{archs.shape}"
                )
            return archs.astype(np.int64, copy=False)
        foreign = next((arch for arch in archs if arch.space != self.name or len(arch.code) != self.code_length), None)
        if foreign is not None:
            raise InvalidArchitecture(
                f"a batch for {self.name} holds its architectures only, got {shorten(foreign)}; sort them by space"
            )
        return np.array([arch.code for arch in archs], dtype=np.int64).reshape(len(archs), self.code_length)

    def architectures(self, codes: Codes) -> list[Architecture]:
        """The inverse of :meth:`codes`."""
        return [Architecture(self.name, tuple(row)) for row in self.codes(codes).tolist()]

    def texts(self, archs: Batch) -> list[str]:
        """:meth:`format` of a batch; each distinct architecture is formatted once."""
        different, owner = np.unique(self.codes(archs), axis=0, return_inverse=True)
        texts = [self.format(arch) for arch in self.architectures(different)]
        return [texts[position] for position in owner.ravel().tolist()]

    def encode(self, archs: Batch, how: str = "onehot") -> NDArray[np.float32]:
        """A batch as feature vectors ``[n, features]``; ``encodings`` names the ways this space has.

        ``onehot``: a block of indicator bits a choice. ``path``: one bit for each possible sequence of operations from
        an input to the output (BANANAS). ``config``: one value in [0, 1] for each parameter of :meth:`configspace`,
        NaN where it is inactive (Surrogate NAS Benchmarks, appendix E.1).
        """
        if how not in self.encodings:
            raise InvalidOption(f"{self.name} has no encoding {how!r}; {nearest(how, self.encodings)}")
        features: NDArray[np.float32] = getattr(self, f"_encode_{how}")(self.codes(archs))
        return features

    def properties(self, archs: Batch) -> dict[str, NDArray[Any]]:
        """What can be said of each architecture without training it, by name: a hash, parameters, multiply-adds …"""
        return {}

    def costs(self, archs: Batch, skeleton: Any = None) -> NDArray[np.int64]:
        """Parameters and multiply-adds of each network, ``[n, 2]``, as :meth:`properties` has them but faster; no
        columns where the space does not know them. Without a skeleton the network is the usual one."""
        if skeleton is not None:
            raise InvalidOption(
                f"networks of {self.name} are counted in the usual skeleton only, got a different one; leave it out"
            )
        properties = self.properties(archs)
        columns = [properties[name] for name in ("parameters", "multiply_adds") if name in properties]
        return np.stack(columns, axis=1) if columns else np.empty((len(archs), 0), dtype=np.int64)

    def function_codes(self, archs: Batch) -> Codes:
        """A representative of each architecture among those that compute the same function: equal rows do so for equal
        weights. The canonical form, where the space knows no more than that."""
        return self.canonical_codes(archs)

    def operations_present(self, archs: Batch) -> NDArray[np.bool_]:
        """Which of the places of :attr:`operations` each architecture uses, ``[n, places]``."""
        if self.operations is None:
            raise InvalidOption(f"the space {self.name} declares no operations")
        names, codes = self.operations.names, self.codes(archs)[:, self.operations.places]
        present: NDArray[np.bool_] = codes != (names.index(NONE) if NONE in names else -1)
        return present

    def make_skeleton(self, settings: Mapping[str, Any]) -> Any:
        """The network around the cells with these settings; None where a space has no :attr:`skeleton`."""
        names = self.skeleton_settings
        if unknown := set(settings) - set(names):
            has = f"has the settings {', '.join(sorted(names))}" if names else "has no settings"
            raise InvalidOption(f"the skeleton of {self.name} {has}, got {', '.join(sorted(unknown))}; leave them out")
        if self.skeleton is None:
            return None
        try:
            return self.skeleton(**{n: tuple(v) if isinstance(v, list) else v for n, v in settings.items()})
        except TypeError:
            raise InvalidOption(
                f"a setting of the skeleton of {self.name} has a value of a wrong kind, got {shorten(dict(settings))}"
            ) from None

    @property
    def skeleton_settings(self) -> tuple[str, ...]:
        """The names of what can be set in a skeleton."""
        return () if self.skeleton is None else tuple(field.name for field in fields(self.skeleton))

    # --- tables: what lies one edit apart ----------------------------------------------------------------------------

    def choices_of(self, archs: Batch) -> Choices:
        """A table as choices: the parameters of the ConfigSpace, unless the code itself is a row of choices."""
        return config_choices(self, self.codes(archs))

    def neighbor_pairs(self, codes: Codes) -> Pairs:
        """The rows of a table that are one edit apart. Codes are canonical, each once; a pair may come both ways."""
        return listed_pairs(self, codes)

    def edit_distances(self, codes: Codes, arch: Architecture) -> NDArray[np.int64]:
        """The smallest number of single edits between one architecture and each row of a table; the number of choices
        that differ, unless the space knows better."""
        return differing_choices(self, codes, self.codes([arch]))

    @property
    def encoding_sizes(self) -> tuple[int, ...]:
        """The number of options of each choice of the encoding that a search moves in, where this is a product of
        independent choices and an edit changes one of them; empty elsewhere."""
        return ()

    def encoded_points(self, arch: Architecture) -> NDArray[np.int64]:
        """The numbers of all points of that product that mean this architecture, each once; the last choice counts
        fastest."""
        raise InvalidOption(f"{self.name} is not encoded as a product of independent choices")

    def operation_changes(self, codes: Codes) -> Iterable[OperationChanges]:
        """The rows of a table that differ in one operation, by the set of operations to choose from. Codes are
        canonical, each once."""
        return option_changes(self.choices_of(codes))

    # --- graphs and pictures -----------------------------------------------------------------------------------------

    @abstractmethod
    def graphs(self, archs: Batch) -> Graphs:
        """A batch as labelled graphs, for a graph network."""

    @abstractmethod
    def diagrams(self, arch: Architecture) -> tuple[Diagram, ...]:
        """What to draw: one diagram a cell."""

    def edit_diagrams(self, arch: Architecture) -> tuple[Diagram, ...]:
        """What to draw where a person edits the architecture: the nodes and edges name the choices of :meth:`edits`, as
        far as they show one. By default :meth:`diagrams`, whose nodes show none."""
        return self.diagrams(arch)

    def __repr__(self) -> str:
        return f"<space {self.name}: {self.title}>"
