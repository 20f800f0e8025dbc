"""NAS-Bench-Suite-Zero files, written here in their published layout; keys checked against published pairs."""

from __future__ import annotations

import copy
import json
import math
import random
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nasbed
from nasbed.core.errors import BadFile, InvalidOption, NasbedError
from nasbed.results import Results
from nasbed.results.importers.suite_zero import architecture_of, contents, entries
from nasbed.results.importing import import_tables
from support.result_samples import mutated_bytes

NB201_PUBLISHED = {
    "(4, 0, 3, 1, 4, 3)": (
        "|avg_pool_3x3~0|+|skip_connect~0|none~1|+|nor_conv_1x1~0|avg_pool_3x3~1|nor_conv_1x1~2|",
        {"flops": 19.248832, "params": 0.129306, "synflow": 44.48481149764257},
    ),
    "(2, 4, 0, 0, 3, 2)": (
        "|nor_conv_3x3~0|+|avg_pool_3x3~0|skip_connect~1|+|skip_connect~0|nor_conv_1x1~1|nor_conv_3x3~2|",
        {"flops": 85.235392, "params": 0.587386, "synflow": 85.29524686388314},
    ),
    "(3, 1, 1, 2, 2, 3)": (
        "|nor_conv_1x1~0|+|none~0|nor_conv_3x3~1|+|none~0|nor_conv_3x3~1|nor_conv_1x1~2|",
        {"flops": 88.307392, "params": 0.615386, "synflow": 84.11342939698255},
    ),
}


def entry(scores: dict[str, float], accuracy: float | None = 90.0, time: float = 0.5) -> dict[str, Any]:
    entry: dict[str, Any] = {name: {"score": score, "time": time} for name, score in scores.items()}
    return entry | {"id": "17", "val_accuracy": accuracy}


def write(path: Path, content: Any) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return path


def imported(path: Path, **options: str) -> list[Results]:
    return import_tables("suite-zero", path, path.parent / "tables", options)


def nb201_file(tmp_path: Path) -> Path:
    cells = {key: entry(scores) for key, (_, scores) in NB201_PUBLISHED.items()}
    return write(tmp_path / "zc_nasbench201.json", {"cifar10": cells, "ImageNet16-120": cells})


def test_nb201_keys_are_the_published_ones(tmp_path: Path) -> None:
    """Each published key, its architecture string, and the parameters and flops that the string has."""
    tables = imported(nb201_file(tmp_path))
    assert [table.about.name for table in tables] == ["suite-zero/nb201/cifar10", "suite-zero/nb201/imagenet16-120"]
    nb201 = nasbed.space("nb201")
    for table in tables:
        rows = next(table.batches())
        assert [nb201.format(arch) for arch in nb201.architectures(rows.codes)] == [
            text for text, _ in NB201_PUBLISHED.values()
        ]
        properties = nb201.properties(rows.codes)
        assert np.allclose(rows.values["params"] * 1e6, properties["parameters"], rtol=0, atol=1e-3)
        assert np.allclose(rows.values["flops"] * 1e6, properties["published_flops"], rtol=0, atol=1e-3)
        assert rows.values["synflow"].tolist() == [scores["synflow"] for _, scores in NB201_PUBLISHED.values()]
        assert rows.values["synflow_time_s"].tolist() == [0.5] * 3
        assert rows.values["validation_accuracy"].tolist() == [90.0] * 3
        assert "in millions" in table.about.notes


def test_one_dataset_and_name_can_be_chosen(tmp_path: Path) -> None:
    [table] = imported(nb201_file(tmp_path), dataset="cifar10", name="mine")
    assert table.about.name == "mine/cifar10"
    with pytest.raises(BadFile, match="holds the datasets cifar10, ImageNet16-120, not 'svhn'"):
        imported(nb201_file(tmp_path), dataset="svhn")


def nb101_key(arch: nasbed.Architecture) -> str:
    matrix, ops = nasbed.space("nb101").to_native(arch)
    order = ["input", "output", "maxpool3x3", "conv1x1-bn-relu", "conv3x3-bn-relu"]
    return str((*matrix.flatten().tolist(), *(order.index(op) for op in ops)))


def darts_key(arch: nasbed.Architecture) -> str:
    order = ["max_pool_3x3", "avg_pool_3x3", "skip_connect"]
    order += ["sep_conv_3x3", "sep_conv_5x5", "dil_conv_3x3", "dil_conv_5x5"]
    native = nasbed.space("darts").to_native(arch)
    return str(
        tuple(tuple((source, order.index(op)) for op, source in cell) for cell in (native.normal, native.reduce))
    )


def micro_key(arch: nasbed.Architecture) -> str:
    text = nasbed.space("transnas-micro").format(arch).removeprefix("64-41414-").replace("_", "")
    return str(tuple(map(int, text)))


def macro_key(arch: nasbed.Architecture) -> str:
    digits = nasbed.space("transnas-macro").format(arch).split("-")[1]
    return str((*map(int, digits), *[0] * (6 - len(digits))))


@pytest.mark.parametrize(
    ("name", "stem", "key_of"),
    [
        ("nb101", "zc_nasbench101", nb101_key),
        ("darts", "zc_nasbench301", darts_key),
        ("transnas-micro", "zc_transbench101_micro", micro_key),
        ("transnas-macro", "zc_transbench101_macro", macro_key),
    ],
)
def test_keys_of_each_space_are_read(tmp_path: Path, name: str, stem: str, key_of: Any) -> None:
    space, rng = nasbed.space(name), np.random.default_rng(1)
    archs = list({space.canonical(space.sample(rng)) for _ in range(60)})
    scores = {arch: float(rng.normal()) for arch in archs}
    path = write(tmp_path / f"{stem}.json", {"d": {key_of(arch): entry({"nwot": scores[arch]}) for arch in archs}})
    [table] = imported(path)
    rows = next(table.batches())
    by_arch = dict(zip(space.architectures(rows.codes), rows.values["nwot"].tolist(), strict=True))
    assert {space.canonical(arch): score for arch, score in by_arch.items()} == scores


def test_what_validation_accuracy_means_depends_on_the_task(tmp_path: Path) -> None:
    cell = {"(1, 0, 2, 3, 3, 3)": {"val_accuracy": 0.5}}
    data = dict.fromkeys(("autoencoder", "class_scene", "ninapro"), cell)
    data["room_layout"] = {"(1, 0, 2, 3, 3, 3)": {"val_accuracy": -0.6}}
    tables = {table.about.dataset: table for table in imported(write(tmp_path / "zc_transbench101_micro.json", data))}
    metric = {task: table.about.metrics[0] for task, table in tables.items()}
    assert (metric["autoencoder"].key, metric["autoencoder"].bounds) == ("validation_ssim", (-1, 1))
    assert metric["class_scene"].unit == "%" and metric["ninapro"].unit == ""
    assert metric["room_layout"].key == "validation_neg_loss"


def test_missing_scores_stay_missing(tmp_path: Path) -> None:
    data = {
        "cifar10": {
            "(0, 0, 0, 0, 0, 0)": {"snip": {"score": math.nan, "time": 1}, "val_accuracy": 10},
            "(0, 0, 0, 0, 0, 1)": {"snip": {"score": math.inf}, "val_accuracy": None},
            "(0, 0, 0, 0, 0, 2)": {"jacov": {"score": -3.5}},
        }
    }
    rows = next(imported(write(tmp_path / "zc_nasbench201.json", data))[0].batches())
    assert rows.status.tolist() == [0, 2, 0]
    assert np.isnan(rows.values["snip"]).all() and rows.values["jacov"].tolist()[2] == -3.5
    assert np.isnan(rows.values["snip_time_s"]).tolist() == [False, True, True]


GOOD = {"cifar10": {"(0, 0, 0, 0, 0, 0)": entry({"snip": 1.0})}}


def with_key(key: str) -> dict[str, Any]:
    return {"cifar10": {**GOOD["cifar10"], key: entry({"snip": 1.0})}}


def with_entry(changed: Any) -> dict[str, Any]:
    return {"cifar10": {**GOOD["cifar10"], "(0, 0, 0, 0, 0, 1)": changed}}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "JSON has {"),
        (json.dumps(GOOD).encode()[:-1], "the end"),
        (json.dumps(GOOD).encode() + b"x", "JSON ends with its value"),
        (b'{"cifar10": {"(0, 0, 0, 0, 0, 0)": {"snip": {"score": 1, "score": 2}}}}', "'score' twice"),
        (b'{"cifar10": {}, "cifar10": {}}', "'cifar10' twice"),
        (json.dumps(GOOD).replace('"(0', '"(0, 0, 0, 0, 0, 0)": {}, "(0').encode(), "twice"),
        (b'{"cifar10": {"\xfe": 1}}', "UTF-8"),
        (b'{"cifar10": {"k": ' + b"[" * 200_000, "nested too deeply"),
        (b'{"cifar10": {cell: 1}}', "keys in quotes"),
        ({}, "holds no datasets"),
        ({"cifar10": {}}, "holds no datasets"),
        ([], "JSON has {"),
        ({"cifar10": []}, "JSON has {"),
        (with_key("(0, 0, 0, 0, 0)"), "no nb201 architecture"),
        (with_key("(0, 0, 0, 0, 0, 5)"), "no nb201 architecture"),
        (with_key("(0, 0, 0, 0, 0, -1)"), "text of a tuple of integers"),
        (with_key("__import__('os')"), "text of a tuple of integers"),
        (with_key("(" * 1000), "no nb201 architecture"),
        (with_key("(" * 3000), "text of a tuple"),
        (with_key("((0, 0, 0), (0, 0, 0))"), "no nb201 architecture"),
        (with_key("28cfc7874f6d200472e1a9dcd8650aa0"), "text of a tuple"),
        (with_entry([]), "an architecture has proxies"),
        (with_entry({"snip": 1.0}), "a name with score and time"),
        (with_entry({"snip": {"time": 1.0}}), "a name with score and time"),
        (with_entry({"snip": {"score": [1.0, 2.0]}}), "the score of snip is a number"),
        (with_entry({"snip": {"score": "NaN"}}), "the score of snip is a number"),
        (with_entry({"snip": {"score": 10**400}}), "usual size"),
        (with_entry({"snip": {"score": 1, "time": -1}}), "lies in [0, inf] s"),
        (with_entry({"val_accuracy": 101}), "lies in [0, 100] %"),
        (with_entry({"val_accuracy": "90"}), "val_accuracy is a number"),
        (with_entry({"../x": {"score": 1}}), "a name with score"),
        (with_entry({"seed": {"score": 1}}), "rename it"),
        (with_entry({"x" * 200: {"score": 1}}), "rename it"),
        (with_entry({"snip_time_s": {"score": 1}}), "different keys"),
        ({"../cifar10": GOOD["cifar10"]}, "a table's name"),
    ],
    ids=map(str, count()),
)
def test_bad_files_are_refused_in_one_line_and_nothing_is_written(tmp_path: Path, content: Any, message: str) -> None:
    with pytest.raises(BadFile) as error:
        imported(write(tmp_path / "zc_nasbench201.json", content))
    assert message in str(error.value)
    assert "\n" not in str(error.value) and len(str(error.value)) < 500
    assert not (tmp_path / "tables").exists()


def test_spaces_whose_keys_are_not_established_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidOption, match="are known here, got"):
        imported(write(tmp_path / "zc_nasbenchasr.json", GOOD))
    with pytest.raises(InvalidOption, match="are known here, got 'fbnet'"):
        imported(write(tmp_path / "zc.json", GOOD), space="fbnet")
    assert imported(write(tmp_path / "zc.json", GOOD), space="nb201")


def test_fuzz(thorough: bool) -> None:
    """Mutated files and keys: each is read or refused in one line."""
    rng = random.Random(1)
    cells = {key: entry(scores) for key, (_, scores) in list(NB201_PUBLISHED.items())[:2]}
    original = json.dumps({"cifar10": cells}).encode()
    odd: list[Any] = [
        None,
        math.nan,
        math.inf,
        -1,
        10**400,
        "x",
        [],
        {},
        True,
        "\ud800",
        {"score": []},
        {"score": 1e308},
    ]
    refusals = 0
    for attempt in range(10_500 if thorough else 3_000):
        if attempt % 2:
            data = mutated_bytes(original, rng)
        else:
            changed: Any = copy.deepcopy({"cifar10": cells})
            place = rng.choice([changed, changed["cifar10"], *changed["cifar10"].values()])
            place[rng.choice([*place, "new", "val_accuracy"])] = rng.choice(odd)
            data = json.dumps(changed).encode()
        try:
            by_dataset = contents(data, "x", "nb201")
            assert sum(content.count for content in by_dataset.values()) == sum(1 for _ in entries(data, "x"))
        except BadFile as error:
            refusals += 1
            assert "\n" not in str(error) and len(str(error)) < 600
    assert refusals > 500
    for _ in range(10_000 if thorough else 3_000):
        key = "".join(rng.choices("()[],  0123456789", k=rng.randint(0, 60)))
        name = rng.choice(["nb101", "nb201", "darts", "transnas-micro", "transnas-macro"])
        try:
            arch = architecture_of(key, name, "x")
            nasbed.space(name).validate(arch)
        except NasbedError as error:
            assert isinstance(error, BadFile) and "\n" not in str(error)
