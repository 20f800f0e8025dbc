"""docs/reference/methods.md names every method, every setting and every default as the code has them."""

from __future__ import annotations

import re

import pytest

from nasbed.optimizers import OPTIMIZERS
from nasbed.optimizers.presets import METHOD_PRESETS
from nasbed.optimizers.settings import defaults_of
from nasbed.studies.methods.page import setting_text
from support.documentation import page_text

PAGE = page_text("methods")
SECTIONS = dict(re.findall(r"^## `(\w+)`\n(.*?)(?=^## |\Z)", PAGE, flags=re.MULTILINE | re.DOTALL))


def test_methods_page_has_a_section_for_every_method_and_no_other() -> None:
    assert sorted(SECTIONS) == sorted(OPTIMIZERS)


@pytest.mark.parametrize("name", list(OPTIMIZERS))
def test_methods_page_has_every_setting_with_its_default_and_a_source(name: str) -> None:
    rows = re.findall(r"^\| `(\w+)` \| (\S+) \| (\S.*) \|$", SECTIONS[name], flags=re.MULTILINE)
    expected = {setting: setting_text(value) for setting, value in defaults_of(OPTIMIZERS.get(name)).items()}
    assert {setting: default for setting, default, _ in rows} == expected
    if not expected:
        assert "no settings" in SECTIONS[name]


def test_methods_page_has_every_number_of_the_presets_with_its_source() -> None:
    section = PAGE.partition("## Presets by paper\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| `(\w+)` \| `(\w+)` \| (\S+) \| (\S.*) \|$", section, flags=re.MULTILINE)
    assert sorted(rows) == sorted(
        (name, method, setting, str(entry.value), entry.source)
        for name in METHOD_PRESETS
        for method, entries in METHOD_PRESETS.get(name).owners.items()
        for setting, entry in entries.items()
    )


def test_methods_page_gives_the_command_of_the_page_of_figures() -> None:
    assert "nasbed study methods nb201/cifar10" in PAGE
