"""What the explorer's API answers is what the package answers, over real connections."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from scipy.stats import rankdata

import nasbed
from nasbed.explorer.catalogue import BenchmarkView
from nasbed.explorer.details import architecture_details
from nasbed.explorer.edits import listed_edits
from nasbed.explorer.openapi import openapi_document
from nasbed.explorer.query import MOST_ARCHITECTURES
from nasbed.proxies.table import open_scores
from nasbed.results import Rows, TableInfo, write_results
from support.explorers import Explorer
from support.tables import VALIDATION

TABLE, PARTIAL = "nb201-cifar10-16-v1.0", "darts-cifar10-16-v2.0"
DARTS, NB101, FBNET = (
    "snb-darts-cifar10-16-xgb-v2.0",
    "snb-nb101-cifar10-16-lgb-mf-v1.0",
    "snb-fbnet-cifar10-16-lgb-v1.0",
)
CELL = "|nor_conv_3x3~0|+|none~0|skip_connect~1|+|nor_conv_1x1~0|none~1|avg_pool_3x3~2|"
FEW_CELLS = "nb101-mini-cifar10-16-v1.0"


def random_texts(name: str, count: int) -> list[str]:
    space, rng = nasbed.load(name).space, np.random.default_rng(5)
    return [space.format(space.sample(rng)) for _ in range(count)]


# --- the list of benchmarks ------------------------------------------------------------------------------------------


def test_list_has_the_present_benchmarks_and_marks_the_default(explorer: Explorer) -> None:
    answer = explorer.get("/api/benchmarks")
    entries = {entry["id"]: entry for entry in answer["benchmarks"]}
    assert [name for name, entry in entries.items() if entry["default"]] == [TABLE]
    assert entries[TABLE] | {"title": ""} == {
        "id": TABLE, "title": "", "space": "nb201", "kind": "table", "rows": 15_625, "dataset": "cifar10@16",
        "default": True,
    }  # fmt: skip
    assert entries[DARTS]["kind"] == "surrogate" and entries[DARTS]["rows"] is None
    assert answer["version"] == nasbed.__version__


def test_benchmark_names_its_metrics_columns_and_the_other_tables_of_its_space(explorer: Explorer) -> None:
    facts = explorer.get(f"/api/benchmarks/{TABLE}")
    assert facts["rows"] == 15_625 and facts["complete"] and facts["sampled"] is None
    assert facts["objective"] == "validation_accuracy" and facts["test"] == "test_accuracy"
    assert {metric["key"]: metric["maximise"] for metric in facts["metrics"]}["train_loss"] is False
    assert {"nb201-addnist-v1.0", "nb201-language-v1.0"} <= set(facts["siblings"]) and TABLE not in facts["siblings"]
    kinds = Counter(column["kind"] for column in facts["columns"])
    assert kinds["operation"] == 5 and kinds["proxy"] == 18
    surrogate = explorer.get(f"/api/benchmarks/{DARTS}")
    assert "drawn at random" in surrogate["sampled"]
    assert "method" in {column["kind"] for column in surrogate["columns"]}


# --- the overview ----------------------------------------------------------------------------------------------------


def test_points_are_the_means_counts_and_scores_of_every_cell(explorer: Explorer) -> None:
    keys = ("validation_accuracy", "parameters", "count:nor_conv_3x3", "proxy:params", "test_accuracy")
    columns = explorer.columns(TABLE, *keys)
    benchmark, points = nasbed.load(TABLE), explorer.catalogue.open(TABLE).points
    archs = benchmark.space.architectures(points.codes)
    np.testing.assert_array_equal(
        columns["validation_accuracy"], benchmark.mean_objective(points.codes).astype(np.float32)
    )
    np.testing.assert_array_equal(columns["test_accuracy"], benchmark.mean_test(points.codes).astype(np.float32))
    texts = benchmark.space.texts(points.codes)
    assert columns["count:nor_conv_3x3"].tolist() == [text.count("nor_conv_3x3") for text in texts]
    counted = ~np.isnan(columns["proxy:params"])  # by torch, for one cell of each function
    assert counted.sum() > 3_000
    np.testing.assert_array_equal(columns["parameters"][counted], columns["proxy:params"][counted])
    row = 4_321
    assert explorer.get("/api/architecture", row=row)["text"] == benchmark.space.format(archs[row])


@pytest.mark.parametrize("table", ["nb201-addnist-v1.0", "nb201-multnist-v1.0", "darts-cifar10-16"])
def test_parameters_are_those_that_torch_counted_in_the_trained_networks(explorer: Explorer, table: str) -> None:
    view = explorer.catalogue.open(table)
    assert view.points.costs.note == ""
    scores = open_scores(table)
    rows = view.points.rows_of(scores.codes)
    np.testing.assert_array_equal(view.points.values("parameters")[rows], scores.mean("params"))


def test_counts_for_another_number_of_input_channels_say_so(explorer: Explorer) -> None:
    assert "three input channels" in explorer.get("/api/benchmarks/nb201-gutenberg-v1.0")["cost_note"]


def test_methods_that_found_a_row_are_those_of_its_first_evaluation(explorer: Explorer) -> None:
    view = explorer.catalogue.open(PARTIAL)
    labels, numbers = view.points.columns["method"].labels, view.points.values("method")
    table = nasbed.load(PARTIAL)
    assert table.results is not None
    first: dict[tuple[int, ...], str] = {}
    for batch in table.results.batches():
        for arch, method in zip(table.space.architectures(batch.codes), batch.method.tolist(), strict=True):
            first.setdefault(table.space.canonical(arch).code, method)
    for code, number in zip(map(tuple, view.points.codes.tolist()), numbers.tolist(), strict=True):
        assert labels[number] == first[code]


def test_table_in_a_folder_of_a_space_without_operations_has_its_choices_as_columns(tmp_path: Path) -> None:
    space, rng = nasbed.space("fcnet"), np.random.default_rng(0)
    codes = np.unique(space.codes([space.sample(rng) for _ in range(200)]), axis=0)
    values = {VALIDATION.key: rng.uniform(50, 90, len(codes))}
    write_results(tmp_path / "own", TableInfo("own", "fcnet", (VALIDATION,)), [Rows.of(codes, values, fidelity=9)])
    view = BenchmarkView.load(str(tmp_path / "own"))
    column = view.points.columns["choice:n_units_1"]
    assert column.labels == ("16", "32", "64", "128", "256", "512") and view.points.rows == len(codes)
    for row in range(5):
        text = space.format(view.points.architecture(row))
        assert f"n_units_1={column.labels[view.points.values(column.key)[row]]}," in text
    arch = view.points.architecture(0)
    edits = listed_edits(view, view, arch)["edits"]
    held = {space.format(near) for near in space.neighbors(arch) if view.benchmark.holds(near)}
    assert {edit["text"] for edit in edits if edit["value"] == edit["value"]} == held and len(edits) == 25
    outside = next(near for near in space.neighbors(arch) if not view.benchmark.holds(near))
    details = architecture_details(view, view, outside)
    assert not details["held"] and details["values"] == {} and details["rank"] == {} and details["row"] is None


def test_unknown_columns_rows_and_benchmarks_are_refused_in_a_line(explorer: Explorer) -> None:
    assert explorer.refusal("/api/points", columns="accuracy")[0] == 404
    assert explorer.refusal("/api/points", columns="")[0] == 400
    assert explorer.refusal("/api/architecture", row=15_625) == (
        400, f"a row of {TABLE} is 0 to 15624, got 15625; choose one of them",
    )  # fmt: skip
    assert explorer.refusal("/api/architecture", row="-1")[0] == 400
    assert explorer.refusal("/api/architecture")[0] == 400
    assert explorer.refusal("/api/architecture", benchmark="/etc", row=1)[0] == 404
    assert explorer.refusal("/api/benchmarks/live:nb201/digits/quick")[0] == 404
    assert explorer.refusal("/api/nothing")[0] == 404


# --- an architecture -------------------------------------------------------------------------------------------------


def test_ranks_are_those_of_scipy_on_the_table(explorer: Explorer) -> None:
    columns = explorer.columns(TABLE, "validation_accuracy", "train_loss")
    benchmark = nasbed.load(TABLE)
    codes = explorer.catalogue.open(TABLE).points.codes
    answers = benchmark.expected_many(codes)
    for key, sign in (("validation_accuracy", -1), ("train_loss", 1)):
        values = answers.column(key)
        ranks = rankdata(sign * values, method="min")
        for row in (0, 77, int(np.argmin(sign * values))):
            rank = explorer.get("/api/architecture", row=row)["rank"][key]
            assert rank["rank"] == ranks[row] and rank["of"] == len(columns[key]) == 15_625
            worse = (sign * values > sign * values[row]).mean()
            assert rank["percentile"] == pytest.approx(100 * worse)


def test_values_of_a_table_are_its_repeats(explorer: Explorer) -> None:
    details = explorer.get("/api/architecture", benchmark=FEW_CELLS, row=7)
    table = nasbed.load(FEW_CELLS)
    arch = table.space.parse(details["text"])
    seeds = [repeat["validation_accuracy"] for repeat in table.repeats(arch)]
    value = details["values"]["validation_accuracy"]
    assert value["seeds"] == pytest.approx(seeds) and not value["predicted"]
    assert value["mean"] == pytest.approx(np.mean(seeds)) and value["std"] == pytest.approx(np.std(seeds, ddof=1))
    assert [point["fidelity"] for point in details["curve"]] == list(table.fidelities)
    means = [table.expected(arch, fidelity=epochs)["validation_accuracy"] for epochs in table.fidelities]
    assert [point["value"] for point in details["curve"]] == pytest.approx(means)
    assert details["train_time_s"] == pytest.approx(table.expected(arch).cost_s)


def test_values_of_a_surrogate_are_its_mean_its_noise_and_its_answers(explorer: Explorer) -> None:
    text = random_texts(NB101, 1)[0]
    details = explorer.get("/api/architecture", benchmark=NB101, text=text)
    surrogate = nasbed.load(NB101)
    value = details["values"]["validation_accuracy"]
    assert (
        value["predicted"] and value["mean"] == surrogate.expected(surrogate.space.parse(text))["validation_accuracy"]
    )
    assert value["seeds"] == [surrogate.query(text, seed=seed)["validation_accuracy"] for seed in range(5)]
    many = [surrogate.query(text, seed=seed)["validation_accuracy"] for seed in range(300)]
    assert value["std"] == pytest.approx(np.std(many), rel=0.2)
    assert details["parameters"] == surrogate.query(text)["parameters"]


@pytest.mark.parametrize("benchmark", [TABLE, DARTS, NB101, FBNET, FEW_CELLS])
def test_every_notation_leads_back_to_the_same_architecture(explorer: Explorer, benchmark: str) -> None:
    details = explorer.get("/api/architecture", benchmark=benchmark, random=8)
    assert set(details["notations"]) >= {"text", "native", "code", "configuration"}
    for name, notation in details["notations"].items():
        if name != "hash":
            again = explorer.get("/api/edits", benchmark=benchmark, text=notation)
            assert again == explorer.get("/api/edits", benchmark=benchmark, text=details["text"]), name


def test_hash_and_row_number_name_an_architecture(explorer: Explorer) -> None:
    details = explorer.get("/api/architecture", benchmark=FEW_CELLS, row=31)
    assert explorer.get("/api/architecture", benchmark=FEW_CELLS, text="#31") == details
    by_hash = explorer.get("/api/architecture", benchmark=FEW_CELLS, text=details["notations"]["hash"])
    assert by_hash["row"] == 31
    assert explorer.refusal("/api/architecture", benchmark=FEW_CELLS, text="0" * 32)[0] == 400
    assert explorer.refusal("/api/architecture", benchmark=TABLE, text="a" * 32)[0] == 400


def test_code_line_answers_what_is_shown(explorer: Explorer) -> None:
    details = explorer.get("/api/architecture", text=CELL)
    answer = eval(details["code_line"], {"nasbed": nasbed})  # the line of our own server
    assert answer["validation_accuracy"] in details["values"]["validation_accuracy"]["seeds"]
    assert details["text"] == CELL and details["row"] is not None


def test_same_functions_are_counted_as_isomorphic(explorer: Explorer) -> None:
    nothing = "|none~0|+|none~0|none~1|+|none~0|none~1|none~2|"
    space = nasbed.space("nb201")
    same = (space.function_codes(space.all_codes()) == space.function_codes([space.parse(nothing)])).all(axis=1).sum()
    details = explorer.get("/api/architecture", text=nothing)
    assert details["isomorphic"]["count"] == same > 20 and len(details["isomorphic"]["forms"]) == 20


def test_diagram_shows_every_choice_of_a_cell_in_its_frame(explorer: Explorer) -> None:
    (cell,) = explorer.get("/api/architecture", text=CELL)["diagram"]
    slots = {node["edit"]: node for node in cell["nodes"] if node["edit"]}
    assert set(slots) == {"1<-0", "2<-0", "2<-1", "3<-0", "3<-1", "3<-2"}
    assert not slots["2<-0"]["used"] and slots["1<-0"]["used"] and slots["1<-0"]["label"] == "nor_conv_3x3"
    for node in cell["nodes"]:
        assert node["width"] / 2 <= node["x"] <= cell["width"] - node["width"] / 2 + 0.01
    assert len(cell["edges"]) == 12 and all(edge["path"].startswith("M") for edge in cell["edges"])
    edited = explorer.get("/api/architecture", text=CELL.replace("nor_conv_3x3~0", "none~0"))["diagram"][0]
    places = [[(node["x"], node["y"]) for node in drawn["nodes"]] for drawn in (cell, edited)]
    assert places[0] == places[1], "boxes stay where they are while a cell is edited"


def test_pictures_come_where_they_are_asked_for(explorer: Explorer) -> None:
    assert "svg" not in explorer.get("/api/architecture", text=CELL)
    (picture,) = explorer.get("/api/architecture", text=CELL, svg=1)["svg"]
    assert picture["svg"].startswith("<svg ") and "nor_conv_3x3" in picture["svg"]


# --- edits -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("benchmark", [TABLE, DARTS, NB101, FBNET])
def test_edits_are_the_neighbors_with_their_expected_values_best_first(explorer: Explorer, benchmark: str) -> None:
    opened_benchmark = nasbed.load(benchmark)
    space, objective = opened_benchmark.space, opened_benchmark.objective
    text = explorer.get("/api/architecture", benchmark=benchmark, random=4)["text"]
    answer = explorer.get("/api/edits", benchmark=benchmark, text=text)
    near = list(space.neighbors(space.parse(text)))
    assert answer["more"] == 0 and answer["predicted_by"] is None
    assert {edit["text"] for edit in answer["edits"]} == set(map(space.format, near))
    values = opened_benchmark.expected_many(near).column(objective)
    expected = dict(zip(map(space.format, near), values.tolist(), strict=True))
    assert {edit["text"]: edit["value"] for edit in answer["edits"]} == pytest.approx(expected)
    gains = [edit["gain"] for edit in answer["edits"]]
    assert gains == sorted(gains, reverse=True)
    before = opened_benchmark.expected(space.parse(text))[objective.key]
    sign = 1 if objective.direction == "maximize" else -1
    assert answer["value"] == pytest.approx(before)
    assert gains[0] == pytest.approx(sign * (answer["edits"][0]["value"] - before))


@pytest.mark.parametrize("benchmark", [TABLE, NB101])
def test_way_uphill_rises_by_single_edits_to_a_local_best(explorer: Explorer, benchmark: str) -> None:
    surrogate = nasbed.load(benchmark)
    space = surrogate.space
    steps = explorer.get("/api/uphill", benchmark=benchmark, random=2)["steps"]
    archs = [space.parse(step["text"]) for step in steps]
    values = [step["value"] for step in steps]
    assert len(steps) > 1 and values == sorted(values) and len(set(values)) == len(values)
    assert all(after in set(space.neighbors(before)) for before, after in pairwise(archs))
    near = surrogate.expected_many(list(space.neighbors(archs[-1]))).column(surrogate.objective)
    assert near.max() <= values[-1]


def test_edits_of_a_partial_table_are_predicted_by_its_surrogate(explorer: Explorer) -> None:
    details = explorer.get("/api/architecture", benchmark=PARTIAL, row=5)
    assert details["held"] and details["predicted_by"] is None
    answer = explorer.get("/api/edits", benchmark=PARTIAL, row=5)
    surrogate = nasbed.load(answer["predicted_by"])
    assert surrogate.predicts and surrogate.model_family == "trees" and len(answer["edits"]) == 120
    best = answer["edits"][0]
    assert best["value"] == surrogate.expected(surrogate.space.parse(best["text"]))["validation_accuracy"]
    edited = explorer.get("/api/architecture", benchmark=PARTIAL, text=best["text"])
    assert not edited["held"] and edited["predicted_by"] == answer["predicted_by"]
    assert edited["values"]["validation_accuracy"]["mean"] == best["value"]


# --- other tables ----------------------------------------------------------------------------------------------------


def test_across_has_the_value_and_rank_on_every_table_that_holds_it(explorer: Explorer) -> None:
    answers = explorer.get("/api/across", text=CELL)["benchmarks"]
    assert answers[0]["id"] == TABLE and len(answers) >= 6
    for answer in answers[:3]:
        table = nasbed.load(answer["id"])
        arch = table.space.parse(CELL)
        assert answer["value"] == pytest.approx(table.expected(arch)["validation_accuracy"])
        means = table.mean_objective(explorer.catalogue.open(answer["id"]).points.codes)
        assert answer["rank"] == 1 + (means > answer["value"]).sum() and answer["of"] == 15_625


# --- queries ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("benchmark, count", [(TABLE, 1), (TABLE, 300), (DARTS, 1), (FBNET, 600)])
def test_query_answers_what_python_answers(explorer: Explorer, benchmark: str, count: int) -> None:
    texts = random_texts(benchmark, count)
    package = nasbed.load(benchmark)
    for seed in (None, 3):
        reply = explorer.post({"benchmark": benchmark, "architectures": texts, "seed": seed})
        assert reply.status == 200, reply.body
        archs = [package.space.parse(text) for text in texts]
        answers = package.expected_many(archs) if seed is None else package.query_many(archs, seed=seed)
        for metric in package.metrics:
            assert reply.json["metrics"][metric.key] == pytest.approx(answers.column(metric).tolist(), nan_ok=True)
        assert reply.json["seed"] == seed and reply.json["status"] == ["ok"] * count


def test_query_asks_for_a_fidelity(explorer: Explorer) -> None:
    text = random_texts(NB101, 1)[0]
    reply = explorer.post({"benchmark": NB101, "architectures": [text], "fidelity": 2, "seed": 0})
    assert reply.json["fidelity"] == 2
    assert reply.json["metrics"]["validation_accuracy"] == [
        nasbed.load(NB101).query(text, fidelity=2)["validation_accuracy"]
    ]


@pytest.mark.parametrize(
    "body, words",
    [
        (b"[", "a query is JSON"),
        (b"[]", "a query is a JSON object"),
        ({"architectures": []}, "a list of 1 to 20000 texts, got 0"),
        ({"architectures": "x"}, "a list of 1 to 20000 texts"),
        ({"architectures": [CELL] * (MOST_ARCHITECTURES + 1)}, "got 20001; split the list"),
        ({"architectures": [CELL, 5]}, "architectures[1]: an architecture is a text"),
        ({"architectures": [CELL, "x" * 30_000]}, "architectures[1]: an architecture is a text of up to 20000"),
        ({"architectures": [CELL], "seed": 1.5}, "the seed is a whole number or null"),
        ({"architectures": [CELL], "seed": True}, "the seed is a whole number or null"),
        ({"architectures": [CELL], "fidelity": 7}, "has the fidelities 8, got 7"),
        ({"architectures": [CELL], "color": 1}, "a query is a JSON object with benchmark, architectures"),
        ({"architectures": ["|x~0|"]}, "architectures[0]: an nb201 cell reads"),
        (b'{"architectures": ["' + b"[" * 5_000 + b'"]}', "architectures[0]: an nb201 cell reads"),
        (b"[" * 100_000, "a query is JSON"),
    ],
)
def test_query_is_refused_in_the_words_of_python(explorer: Explorer, body: object, words: str) -> None:
    reply = explorer.post(body)
    assert reply.status == 400 and words in reply.json["error"] and "\n" not in reply.json["error"]
    assert len(reply.json["error"]) < 400


# --- the description -------------------------------------------------------------------------------------------------


def schema_of(path: str, method: str = "get") -> Any:
    answer = openapi_document()["paths"][path][method]["responses"]["200"]["content"]
    return answer["application/json"]["schema"]


def test_document_describes_every_answer(explorer: Explorer) -> None:
    document = explorer.get("/api/openapi.json")
    assert document["openapi"].startswith("3.1") and document["info"]["version"] == nasbed.__version__
    described: Sequence[tuple[str, str, dict[str, object]]] = [
        ("/api/benchmarks", "/api/benchmarks", {}),
        ("/api/benchmarks/{id}", f"/api/benchmarks/{DARTS}", {}),
        ("/api/architecture", "/api/architecture", {"benchmark": NB101, "random": 3, "svg": 1}),
        ("/api/edits", "/api/edits", {"benchmark": PARTIAL, "row": 1}),
        ("/api/uphill", "/api/uphill", {"text": CELL}),
        ("/api/across", "/api/across", {"text": CELL}),
        ("/api/runs", "/api/runs", {}),
    ]
    for path, address, parameters in described:
        jsonschema.validate(explorer.get(address, **parameters), schema_of(path))
    reply = explorer.post({"architectures": [CELL]})
    jsonschema.validate(reply.json, schema_of("/api/query", "post"))
    json.dumps(document)
