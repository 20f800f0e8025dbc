"""The reference of the Python interface has every public name, and each explains itself where it is written."""

from __future__ import annotations

import inspect
import re
from importlib import import_module

import pytest

from support.documentation import page_text

PUBLIC = {
    "nasbed": "api",
    "nasbed.networks": "api-parts",
    "nasbed.proxies": "api-parts",
    "nasbed.training": "api-parts",
    "nasbed.oneshot": "api-parts",
    "nasbed.experiments.campaign": "api-parts",
}
"""The pages of packages."""


@pytest.mark.parametrize("package", PUBLIC)
def test_public_names_are_the_documented_ones(package: str) -> None:
    documented = re.findall(rf"^::: {re.escape(package)}\.(\w+)$", page_text(PUBLIC[package]), flags=re.MULTILINE)
    assert sorted(documented) == sorted(set(import_module(package).__all__))


@pytest.mark.parametrize("package", PUBLIC)
def test_public_names_have_docstrings(package: str) -> None:
    module = import_module(package)
    for name in module.__all__:
        value = getattr(module, name)
        if inspect.isclass(value) or inspect.isfunction(value):
            text = vars(value).get("__doc__") if inspect.isclass(value) else value.__doc__
            assert text and not text.startswith(f"{name}("), f"{package}.{name} has no docstring"
