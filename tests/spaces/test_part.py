"""A part of a space: every walk stays inside."""

from __future__ import annotations

import numpy as np
import pytest

from nasbed import Architecture, NasbedError, space
from nasbed.spaces import SearchSpace
from nasbed.spaces.part import SpacePart

POOL = 4


def without_pooling(arch: Architecture) -> bool:
    return POOL not in arch.code


@pytest.fixture(scope="module")
def part() -> SpacePart:
    return SpacePart(space("nb201"), "no-pooling", without_pooling)


def test_part_of_nb201_without_pooling_is_as_large_as_transnas_micro(part: SpacePart) -> None:
    assert part.size == space("transnas-micro").size == 4**6
    assert all(map(without_pooling, part.enumerate()))


def test_part_samples_and_mutates_uniformly_inside(part: SpacePart) -> None:
    rng = np.random.default_rng(0)
    drawn = np.array([part.sample(rng).code for _ in range(4000)])
    assert np.abs(np.bincount(drawn.ravel(), minlength=5) / drawn.size - [0.25, 0.25, 0.25, 0.25, 0]).max() < 0.02
    start = Architecture("nb201", (0, 1, 2, 3, 0, 1))
    mutants = {part.mutate(start, rng) for _ in range(500)}
    assert mutants == set(part.neighbors(start)) and len(mutants) == 6 * 3


def test_part_refuses_what_is_outside(part: SpacePart) -> None:
    outside = Architecture("nb201", (0, 1, 2, 3, 0, POOL))
    parent = space("nb201")
    for call in (
        lambda: part.validate(outside),
        lambda: part.parse(parent.format(outside)),
        lambda: part.from_native(parent.to_native(outside)),
        lambda: part.from_config(parent.to_config(outside)),
    ):
        with pytest.raises(NasbedError, match="outside no-pooling"):
            call()


def test_part_describes_architectures_as_the_whole_does(part: SpacePart) -> None:
    parent, rng = space("nb201"), np.random.default_rng(1)
    archs = [part.sample(rng) for _ in range(5)]
    assert part.encodings == parent.encodings
    assert (part.encode(archs, "path") == parent.encode(archs, "path")).all()
    assert (part.parameters(archs) == parent.parameters(archs)).all()  # type: ignore[attr-defined]
    assert [part.canonical(arch) for arch in archs] == archs
    assert part.from_config(part.to_config(archs[0])) == archs[0] == part.parse(part.format(archs[0]))


def test_part_lists_neighbours_where_mutants_inside_are_rare() -> None:
    parent = space("nb201")
    start = Architecture("nb201", (0,) * 6)
    only = next(parent.neighbors(start))
    part = SpacePart(parent, "two", lambda arch: arch in (start, only))
    assert part.mutate(start, np.random.default_rng(0)) == only


def test_part_forwards_every_fact_of_the_whole() -> None:
    """A fact that a space gains later must not be answered with the default of all spaces."""
    own = {"parts", "all_codes", "make_skeleton", "skeleton_settings", "counts", "configspace", "config_values"}
    own.add("designs")  # a list of the whole space need not lie inside
    own |= {"encoding_sizes", "encoded_points"}  # a part is no product of independent choices
    built_on_forwarded = {"architecture", "texts", "config_parameters", "from_choices", "sample_config", "is_valid"}
    built_on_forwarded |= {"named_architecture", "unique_neighbors"}
    inherited = own | built_on_forwarded | {"validate", "codes", "architectures"}
    parent = space("nb201")
    part = SpacePart(parent, "no-pooling", without_pooling)
    for name, thing in vars(SearchSpace).items():
        if name.startswith("_") or name in inherited:
            continue
        forwards = name in vars(SpacePart) or (name in vars(part) and vars(part)[name] == getattr(parent, name))
        assert forwards, f"SpacePart inherits {name} from {thing!r}"
    assert part.make_skeleton({"channels": 8}) == parent.make_skeleton({"channels": 8})


def test_part_has_the_named_cells_that_lie_inside() -> None:
    parent = space("nb101")
    small = SpacePart(parent, "small", lambda arch: parent.format(arch).count("/") <= 3)
    assert set(parent.named) > set(small.named)
    for name, cell in parent.named.items():
        assert (name in small.named) == (cell.text.count("/") <= 3)
