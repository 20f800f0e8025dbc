"""Presets of one-shot methods: what papers say, as settings that the methods have."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="needs torch")

from nasbed.core.errors import InvalidOption
from nasbed.oneshot import METHODS, SEARCHED_SPACES, BonsaiSettings
from nasbed.oneshot.method_options import option_defaults
from nasbed.oneshot.methods.base import SupernetMethod
from nasbed.oneshot.presets import SEARCH_PRESETS, method_preset

PAPER = SEARCH_PRESETS.get("paper")


@pytest.mark.parametrize("method", PAPER.owners)
def test_every_value_is_a_setting_of_its_method_and_options_are_the_published_defaults(method: str) -> None:
    kind, preset = METHODS.get(method), method_preset(PAPER, method, "cifar10")
    settings, recipe = kind.settings(**preset.search), preset.recipe()
    assert not preset.options  # the methods' own defaults are the published values
    plain = [name for name in preset.published if "." not in name]
    assert set(plain) <= set(option_defaults(kind) if kind.settings_prefix else kind.settings.names())
    final = {**recipe.settings(), **recipe.skeleton, "epochs": recipe.budget(None)}
    assert preset.changed(settings, final) == {}  # on CIFAR nothing is left out


@pytest.mark.parametrize("method", PAPER.owners)
def test_digits_and_boards_are_not_mirrored_cropped_or_cut_out(method: str) -> None:
    preset = method_preset(PAPER, method, "addnist")
    settings, recipe = METHODS.get(method).settings(**preset.search).recipe(), preset.recipe(20)
    for images in (settings, recipe):
        assert (images.flip, images.crop_padding, images.cutout, images.auxiliary_weight) == (False, 0, 0, 0.0)
    assert recipe.epochs == (20,) and recipe.drop_path in (0.2, 0.3)


def test_parameters_of_pc_darts_rest_for_15_of_50_epochs_and_drnas_keeps_4_of_8_operations() -> None:
    darts, pc_darts, dr_nas = SEARCHED_SPACES.get("darts"), METHODS.get("pc-darts"), METHODS.get("drnas")
    assert issubclass(pc_darts, SupernetMethod) and issubclass(dr_nas, SupernetMethod)
    epochs = method_preset(PAPER, "pc-darts", "cifar10").search["epochs"]
    resting = pc_darts.create(darts, seed=0, options={})
    assert [epoch for epoch in range(epochs) if not resting.learns(epoch, epochs)] == list(range(15))
    epochs = method_preset(PAPER, "drnas", "cifar10").search["epochs"]
    staged = dr_nas.create(darts, seed=0, options={})
    assert [epoch for epoch in range(epochs) if not staged.learns(epoch, epochs)] == [*range(10), *range(25, 35)]
    shapes = []
    for epoch in (0, 25):
        staged.begin(epoch, epochs)
        layout = staged.layout()
        assert layout.candidates is not None
        shapes.append((layout.partial, {len(edge) for kind in layout.candidates for edge in kind}))
    assert shapes == [(6, {8}), (4, {4})]


def test_cells_of_bonsai_net_are_those_of_the_published_patterns() -> None:
    """Two normal cells and a reduction in turn, until there are two reductions, and one pattern more."""
    patterns = ["nn", "r"]
    cells, reductions = "", 0
    while reductions < 2:
        cells += (pattern := patterns[len(cells) % 3 == 2])
        reductions += pattern.count("r")
    settings = BonsaiSettings(**method_preset(PAPER, "bonsai-net", "cifar10").search)
    assert settings.cells == cells + "nn" and settings.classifier == "pixels"


def test_a_method_without_a_preset_is_refused() -> None:
    with pytest.raises(InvalidOption, match="has settings for darts, darts2, pc-darts"):
        PAPER.settings("enas")
