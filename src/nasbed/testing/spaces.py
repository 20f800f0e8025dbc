"""The rules of every search space. Only plain ``assert`` is needed, no test framework."""

from __future__ import annotations

import copy
import pickle
import tempfile
from abc import ABC, abstractmethod
from itertools import islice
from pathlib import Path

import numpy as np

from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidArchitecture, NasbedError, TooLarge
from nasbed.spaces import SearchSpace
from nasbed.spaces.edits import listed_pairs

SAMPLES = 40
JUNK = (
    "",
    " ",
    "junk",
    "[]",
    "{}",
    "null",
    "|||",
    "0",
    "-1",
    "nan",
    "é\x00",
    "[" * 2000,
    "a" * 5000,
    "/" * 50,
    "+" * 50,
)


class SpaceConformance(ABC):
    """The rules of :class:`~nasbed.spaces.SearchSpace`, as test methods over one space."""

    @abstractmethod
    def make_space(self) -> SearchSpace:
        """The space under test."""

    def architectures(self) -> tuple[SearchSpace, list[Architecture]]:
        space = self.make_space()
        rng = np.random.default_rng(0)
        return space, [space.sample(rng) for _ in range(SAMPLES)]

    def test_samples_are_valid_plain_values(self) -> None:
        space, archs = self.architectures()
        for arch in archs:
            space.validate(arch)
            assert arch.space == space.name
            assert len(arch.code) == space.code_length
            assert Architecture.from_json(arch.to_json()) == arch

    def test_sampling_depends_on_the_generator_alone(self) -> None:
        space = self.make_space()
        samples = [
            [space.sample(rng) for _ in range(5)] for rng in (np.random.default_rng(7), np.random.default_rng(7))
        ]
        assert samples[0] == samples[1]

    def test_text_round_trip(self) -> None:
        space, archs = self.architectures()
        for arch in archs:
            text = space.format(arch)
            assert "\n" not in text
            assert space.parse(text) == arch

    def test_native_round_trip(self) -> None:
        space, archs = self.architectures()
        assert [space.from_native(space.to_native(arch)) for arch in archs] == archs

    def test_config_round_trip(self) -> None:
        space, archs = self.architectures()
        for arch in archs:
            config = space.to_config(arch)
            config.check_valid_configuration()
            assert space.from_config(config) == arch
            assert space.from_config(dict(config)) == arch

    def test_sampled_configurations_are_architectures_in_plain_values(self) -> None:
        space = self.make_space()
        drawn = [space.sample_config(np.random.default_rng(seed)) for seed in range(5)]
        assert [space.from_config(config) for config in drawn] == [
            space.sample(np.random.default_rng(seed)) for seed in range(5)
        ]
        for config in drawn:
            assert space.is_valid(config)
            assert {type(value) for value in config.values()} <= {str, int, float, bool, type(None)}
            assert not space.is_valid({**config, "no such parameter": 0})
            assert not space.is_valid(dict(list(config.items())[1:]))

    def test_choices_of_all_parameters_leave_inactive_ones_aside(self) -> None:
        space, archs = self.architectures()
        every = {parameter.name: parameter.value(0) for parameter in space.config_parameters()}
        for arch in archs[:5]:
            assert space.from_choices({**every, **dict(space.to_config(arch))}) == arch

    def test_neighbors_are_valid_distinct_and_mutual(self) -> None:
        space, archs = self.architectures()
        for arch in archs[:5]:
            near = list(space.neighbors(arch))
            assert len(set(near)) == len(near)
            assert arch not in near
            for neighbor in near:
                space.validate(neighbor)
            for neighbor in near[:: max(1, len(near) // 12)]:
                assert arch in set(space.neighbors(neighbor))

    def test_edits_are_the_neighbors_with_the_choice_that_changes(self) -> None:
        space, archs = self.architectures()
        for arch in archs[:2]:
            edits = list(space.edits(arch))
            assert [edit.arch for edit in edits] == list(space.neighbors(arch))
            assert all(edit.choice and edit.title and edit.before != edit.after for edit in edits)
            named = {node.choice for diagram in space.edit_diagrams(arch) for node in diagram.nodes if node.choice}
            named |= {choice for diagram in space.edit_diagrams(arch) for _, choice in diagram.edge_choices}
            assert not named or named & {edit.choice for edit in edits}

    def test_isomorphic_forms_share_the_canonical_form(self) -> None:
        space, archs = self.architectures()
        for arch in archs[:3]:
            forms = list(islice(space.isomorphic_forms(arch), 30))
            assert len(set(forms)) == len(forms) > 0
            for form in forms:
                space.validate(form)
                assert space.canonical(form) == space.canonical(arch)

    def test_mutants_are_valid(self) -> None:
        space, archs = self.architectures()
        rng = np.random.default_rng(1)
        for arch in archs:
            space.validate(space.mutate(arch, rng))

    def test_mutation_moves(self) -> None:
        space, archs = self.architectures()
        rng = np.random.default_rng(2)
        assert any(space.mutate(archs[0], rng) != archs[0] for _ in range(50))

    def test_canonical_is_idempotent_and_valid(self) -> None:
        space, archs = self.architectures()
        for arch in archs:
            canonical = space.canonical(arch)
            space.validate(canonical)
            assert space.canonical(canonical) == canonical

    def test_cell_graph_is_one_that_a_supernet_can_be_built_of(self) -> None:
        """Where there is one: edges go forward, each once, with those into a node side by side."""
        space = self.make_space()
        graph = space.cell_graph
        if graph is None:
            return
        assert graph.kinds and len(set(graph.kinds)) == len(graph.kinds)
        assert graph.operations and len(set(graph.operations)) == len(graph.operations)
        assert len(set(graph.edges)) == len(graph.edges)
        assert all(0 <= source < target for source, target in graph.edges)
        for first, past in graph.incoming:
            assert len({target for _, target in graph.edges[first:past]}) == 1
        assert space.operations is None or set(space.operations.names) == set(graph.operations)

    def test_codes_round_trip(self) -> None:
        space, archs = self.architectures()
        codes = space.codes(archs)
        assert codes.shape == (len(archs), space.code_length)
        assert space.architectures(codes) == archs
        assert space.codes([]).shape == (0, space.code_length)

    def test_encodings_work_row_by_row(self) -> None:
        space, archs = self.architectures()
        for encoding in space.encodings:
            together = space.encode(archs, encoding)
            alone = np.concatenate([space.encode([arch], encoding) for arch in archs])
            np.testing.assert_array_equal(together, alone)
            assert space.encode([], encoding).shape == (0, together.shape[1])

    def test_config_encoding_follows_the_configspace(self) -> None:
        space, archs = self.architectures()
        vectors = space.encode(archs, "config")
        assert vectors.shape[1] == len(space.configspace())
        assert np.nanmin(vectors) >= 0 and np.nanmax(vectors) <= 1
        parameters = space.configspace().values()
        options = [getattr(parameter, "choices", getattr(parameter, "sequence", ())) for parameter in parameters]
        steps = np.array([max(len(values) - 1, 1) for values in options])
        expected = np.array([space.to_config(arch).get_array() for arch in archs]) / steps
        np.testing.assert_allclose(vectors, expected, atol=1e-6)

    def test_properties_give_one_value_each(self) -> None:
        space, archs = self.architectures()
        for name, values in space.properties(archs).items():
            assert len(values) == len(archs), name

    def test_costs_in_the_usual_skeleton_are_the_usual_costs(self) -> None:
        space, archs = self.architectures()
        usual = space.costs(archs)
        properties = space.properties(archs)
        columns = [properties[name] for name in ("parameters", "multiply_adds") if name in properties]
        assert usual.shape == (len(archs), len(columns))
        for cost, column in zip(usual.T, columns, strict=True):
            np.testing.assert_array_equal(cost, column)
        if space.skeleton is not None and columns:
            np.testing.assert_array_equal(space.costs(archs, space.make_skeleton({})), usual)

    def test_operations_are_where_the_space_says(self) -> None:
        space, archs = self.architectures()
        if space.operations is None:
            return
        places, names = space.operations.places, space.operations.names
        assert set(space.operations.parameter_free) <= set(names)
        operations = space.codes(archs)[:, places]
        assert operations.min() >= 0 and operations.max() < len(names)
        assert space.operations_present(archs).shape == (len(archs), len(places))

    def test_edits_of_a_table_find_every_listed_neighbor(self) -> None:
        space, archs = self.architectures()
        near = [neighbor for arch in archs[:2] for neighbor in islice(space.neighbors(arch), 20)]
        codes = np.unique(space.canonical_codes([*archs[:10], *near]), axis=0)
        fast, plain = (
            {frozenset(pair) for rows, columns in pairs for pair in zip(rows.tolist(), columns.tolist(), strict=True)}
            for pairs in (space.neighbor_pairs(codes), listed_pairs(space, codes))
        )
        assert {pair for pair in plain if len(pair) == 2} <= fast
        distances = space.edit_distances(codes, space.architectures(codes[:1])[0])
        assert distances[0] == 0 and distances.min() >= 0 and distances.max() > 0

    def test_graphs_are_consistent(self) -> None:
        space, archs = self.architectures()
        graphs = space.graphs(archs)
        assert len(graphs) == len(archs)
        present = graphs.node_labels >= 0
        rows, sources, targets = np.nonzero(graphs.adjacency)
        assert present[rows, sources].all() and present[rows, targets].all()
        assert graphs.node_labels.max() < len(graphs.node_names)
        assert graphs.edge_labels.max() < len(graphs.edge_names)

    def test_diagrams_can_be_drawn(self) -> None:
        from nasbed.drawing.cells import save_cells

        space, archs = self.architectures()
        for arch in archs[:2]:
            diagrams = space.diagrams(arch)
            for diagram in diagrams:
                ids = [node.id for node in diagram.nodes]
                assert len(set(ids)) == len(ids)
                assert {end for edge in diagram.edges for end in edge} <= set(ids)
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "cell.svg"
                save_cells(diagrams, path)
                assert path.stat().st_size > 0

    def test_enumeration_starts_with_valid_distinct_architectures_or_says_no(self) -> None:
        space = self.make_space()
        try:
            first = list(islice(space.enumerate(), 200))
        except TooLarge:
            return
        assert len(set(first)) == len(first)
        for arch in first:
            space.validate(arch)

    def test_junk_is_refused_in_one_line(self) -> None:
        space = self.make_space()
        for text in JUNK:
            _error_message(lambda text=text: space.parse(text))
        for obj in (None, 3, 2.5, object(), [[[]]], {"a": 1}, b"x"):
            _error_message(lambda obj=obj: space.from_native(obj))
            _error_message(lambda obj=obj: space.parse(obj))

    def test_foreign_and_malformed_architectures_are_refused(self) -> None:
        space, archs = self.architectures()
        code = archs[0].code
        for bad in (
            Architecture("another space", code),
            Architecture(space.name, (*code, 0)),
            Architecture(space.name, code[:-1]),
            Architecture(space.name, (*code[:-1], -5)),
            Architecture(space.name, (*code[:-1], 2**70)),
            Architecture(space.name, (*code[:-1], True)),
            Architecture(space.name, (*code[:-1], 0.0)),  # type: ignore[arg-type]
            Architecture(space.name, list(code)),  # type: ignore[arg-type]
        ):
            message = _error_message(lambda bad=bad: space.validate(bad))
            assert message
        try:
            space.validate("nonsense")  # type: ignore[arg-type]
        except InvalidArchitecture:
            return
        raise AssertionError("a text was taken for an architecture")

    def test_the_space_can_be_copied_to_another_process(self) -> None:
        space, archs = self.architectures()
        for twin in (pickle.loads(pickle.dumps(space)), copy.deepcopy(space)):
            assert twin.format(archs[0]) == space.format(archs[0])


def _error_message(call: object) -> str:
    """The one-line message with which a call fails."""
    try:
        result = call()  # type: ignore[operator]
    except NasbedError as error:
        message = str(error)
        assert "\n" not in message and len(message) < 400, message
        return message
    raise AssertionError(f"bad input gave {result!r}")
