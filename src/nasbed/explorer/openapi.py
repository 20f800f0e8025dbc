"""The description of the API as an OpenAPI document, from which clients in other languages are made."""

from __future__ import annotations

from functools import cache
from typing import Any

import nasbed
from nasbed.explorer.query import MOST_ARCHITECTURES

Schema = dict[str, Any]


def _object(required: dict[str, Schema], **optional: Schema) -> Schema:
    return {"type": "object", "required": list(required), "properties": {**required, **optional}}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _or_null(schema: Schema) -> Schema:
    return {**schema, "type": [schema["type"], "null"]}


def _map(values: Schema) -> Schema:
    return {"type": "object", "additionalProperties": values}


TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "number"}
WHOLE: Schema = {"type": "integer"}
FLAG: Schema = {"type": "boolean"}

METRIC = _object({"key": TEXT, "title": TEXT, "unit": TEXT, "maximise": FLAG})
COLUMN = _object({"key": TEXT, "title": TEXT, "unit": TEXT, "kind": TEXT, "log": FLAG})
ENTRY = _object(
    {
        "id": TEXT,
        "title": TEXT,
        "space": TEXT,
        "kind": {"type": "string", "enum": ["table", "surrogate"]},
        "rows": _or_null(WHOLE),
        "dataset": TEXT,
        "default": FLAG,
    }
)
BENCHMARK = _object(
    {
        "id": TEXT,
        "title": TEXT,
        "space": TEXT,
        "space_title": TEXT,
        "kind": TEXT,
        "rows": WHOLE,
        "complete": FLAG,
        "dataset": TEXT,
        "metrics": _list(METRIC),
        "objective": TEXT,
        "test": _or_null(TEXT),
        "fidelities": _list(WHOLE),
        "operations": _list(TEXT),
        "columns": _list(COLUMN),
        "siblings": _list(TEXT),
        "sampled": _or_null(TEXT),
        "cost_note": TEXT,
    }
)
RANK = _object({"rank": _or_null(WHOLE), "of": WHOLE, "percentile": _or_null(NUMBER)})
VALUE = _object(
    {"mean": _or_null(NUMBER), "std": _or_null(NUMBER), "seeds": _or_null(_list(NUMBER)), "predicted": FLAG}
)
NODE = _object(
    {
        "id": TEXT,
        "label": TEXT,
        "kind": TEXT,
        "x": NUMBER,
        "y": NUMBER,
        "width": NUMBER,
        "height": NUMBER,
        "fill": _or_null(TEXT),
        "used": FLAG,
        "edit": _or_null(TEXT),
    }
)
EDGE = _object({"from": TEXT, "to": TEXT, "label": TEXT, "path": TEXT, "head": TEXT, "edit": _or_null(TEXT)})
DIAGRAM = _object(
    {
        "title": TEXT,
        "width": NUMBER,
        "height": NUMBER,
        "nodes": _list(NODE),
        "edges": _list(EDGE),
        "absent": _list(_object({"from": TEXT, "to": TEXT, "edit": TEXT})),
    }
)
ARCHITECTURE = _object(
    {
        "text": TEXT,
        "row": _or_null(WHOLE),
        "native": TEXT,
        "notations": _map(TEXT),
        "code_line": TEXT,
        "diagram": _list(DIAGRAM),
        "held": FLAG,
        "predicted_by": _or_null(TEXT),
        "values": _map(VALUE),
        "curve": _or_null(_list(_object({"fidelity": WHOLE, "value": NUMBER, "std": _or_null(NUMBER)}))),
        "parameters": _or_null(NUMBER),
        "multiply_adds": _or_null(NUMBER),
        "train_time_s": _or_null(NUMBER),
        "cost_note": TEXT,
        "rank": _map(_or_null(RANK)),
        "proxies": _map(NUMBER),
        "isomorphic": _object({"count": WHOLE, "forms": _list(TEXT)}),
    },
    svg=_list(_object({"title": TEXT, "svg": TEXT})),
)
WHO_ANSWERS = {"objective": TEXT, "predicted_by": _or_null(TEXT)}
EDIT = _object(
    {
        "text": TEXT,
        "slot": TEXT,
        "slot_title": TEXT,
        "from": TEXT,
        "to": TEXT,
        "value": _or_null(NUMBER),
        "gain": _or_null(NUMBER),
        "row": _or_null(WHOLE),
    }
)
STEP = _object(
    {
        "text": TEXT,
        "value": _or_null(NUMBER),
        "slot": _or_null(TEXT),
        "slot_title": _or_null(TEXT),
        "from": _or_null(TEXT),
        "to": _or_null(TEXT),
        "row": _or_null(WHOLE),
    }
)
SIBLING = _object(
    {
        "id": TEXT,
        "dataset": TEXT,
        "objective": TEXT,
        "unit": TEXT,
        "maximise": FLAG,
        "value": NUMBER,
        "std": _or_null(NUMBER),
        "rank": _or_null(WHOLE),
        "of": WHOLE,
        "percentile": _or_null(NUMBER),
    }
)
FOLDER = _object(
    {
        "name": TEXT,
        "benchmark": TEXT,
        "shown": FLAG,
        "methods": _list(TEXT),
        "runs": WHOLE,
        "budget": TEXT,
        "recorded": FLAG,
    }
)
RUN = _object(
    {
        "method": TEXT,
        "seed": WHOLE,
        "architecture": _list(WHOLE),
        "value": _list(_or_null(NUMBER)),
        "time_s": _list(NUMBER),
        "fidelity": _list(WHOLE),
        "incumbent": _list(FLAG),
    }
)
PATHS = _object(
    {
        "folder": TEXT,
        "benchmark": TEXT,
        "objective": TEXT,
        "maximise": FLAG,
        "methods": _list(TEXT),
        "architectures": _list(TEXT),
        "rows": _list(_or_null(WHOLE)),
        "runs": _list(RUN),
    }
)
QUERY = _object(
    {"architectures": {**_list(TEXT), "minItems": 1, "maxItems": MOST_ARCHITECTURES}},
    benchmark=TEXT,
    fidelity=_or_null(WHOLE),
    seed=_or_null(WHOLE),
)
QUERY_ANSWER = _object(
    {
        "benchmark": TEXT,
        "seed": _or_null(WHOLE),
        "fidelity": _or_null(WHOLE),
        "metrics": _map(_list(_or_null(NUMBER))),
        "cost_s": _list(_or_null(NUMBER)),
        "status": _list(TEXT),
    }
)
ERROR = _object({"error": TEXT})

_BENCHMARK_PARAMETER = ("benchmark", "query", "The id of a benchmark; the one named at the start by default.", False)
_NAMED = (
    _BENCHMARK_PARAMETER,
    (
        "text",
        "query",
        "The architecture in any notation of its space, its code, its hash or the number of a row.",
        False,
    ),
    ("row", "query", "The row of the overview, in place of a text.", False),
    ("random", "query", "The seed of a random architecture, in place of a text.", False),
)
_GET: dict[str, tuple[str, Schema, tuple[tuple[str, str, str, bool], ...]]] = {
    "/api/benchmarks": (
        "The benchmarks that can be opened here.",
        _object({"benchmarks": _list(ENTRY), "version": TEXT}),
        (),
    ),
    "/api/benchmarks/{id}": (
        "One benchmark: its metrics, fidelities, operations and the columns of its overview.",
        BENCHMARK,
        (("id", "path", "The id; it may hold slashes.", True),),
    ),
    "/api/architecture": (
        "One architecture: notations, drawn cells, values, costs, ranks and proxy scores.",
        ARCHITECTURE,
        (*_NAMED, ("svg", "query", "1 adds each cell as an SVG that stands alone.", False)),
    ),
    "/api/edits": (
        "The legal single edits of an architecture, the largest gain of the expected objective first. For a "
        "table of a part of its space they are predicted by a surrogate, which predicted_by names; without one, edits "
        "to what the table does not hold have no value and come last.",
        _object({**WHO_ANSWERS, "value": _or_null(NUMBER), "edits": _list(EDIT), "more": WHOLE}),
        _NAMED,
    ),
    "/api/uphill": (
        "Local search from an architecture: the best single edit, again and again, to a local best.",
        _object({**WHO_ANSWERS, "steps": _list(STEP)}),
        _NAMED,
    ),
    "/api/across": (
        "The architecture on this benchmark and on every other table of its space: value and rank.",
        _object({"benchmarks": _list(SIBLING)}),
        _NAMED,
    ),
    "/api/runs": ("The sets of runs that can be shown.", _object({"folders": _list(FOLDER)}), ()),
    "/api/runs/paths": (
        "The runs of one set, column by column. A run's architecture is a number into architectures, -1 for a proposal "
        "that is none.",
        PATHS,
        (("folder", "query", "The name of the set, from /api/runs.", True),),
    ),
    "/api/openapi.json": ("This document.", {"type": "object"}, ()),
}


@cache
def openapi_document() -> dict[str, Any]:
    """The OpenAPI 3.1 document of the API."""
    paths: dict[str, Any] = {
        path: {"get": _operation(summary, _json_body(schema), parameters)}
        for path, (summary, schema, parameters) in _GET.items()
    }
    columns = ("columns", "query", "Keys of columns of the benchmark, with commas between.", True)
    paths["/api/points"] = {
        "get": _operation(
            "Columns of the overview: four bytes with the length of a JSON header, the header {rows, columns: [{key, "
            "type: f4|u1|u2, labels?}]}, then each column; little-endian, padded to four bytes; missing is NaN.",
            {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
            (_BENCHMARK_PARAMETER, columns),
        )
    }
    post = _operation(
        f"The metrics of 1 to {MOST_ARCHITECTURES} architectures, as Python's query_many answers them; without a seed "
        "the expected values.",
        _json_body(QUERY_ANSWER),
        (),
    )
    paths["/api/query"] = {"post": {**post, "requestBody": {"required": True, "content": _json_body(QUERY)}}}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "nasbed explorer",
            "version": nasbed.__version__,
            "description": "Reads benchmarks of neural architecture search. Every error is one line: the rule, the "
            "value and the remedy.",
        },
        "paths": paths,
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
    }


def _json_body(schema: Schema) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


def _operation(summary: str, content: dict[str, Any], parameters: Any) -> dict[str, Any]:
    refused = {"description": "One line that says why.", "content": _json_body(ERROR)}
    return {
        "summary": summary,
        "parameters": [
            {"name": name, "in": place, "description": text, "required": required, "schema": TEXT}
            for name, place, text, required in parameters
        ],
        "responses": {"200": {"description": "The answer.", "content": content}, "4XX": refused, "503": refused},
    }
