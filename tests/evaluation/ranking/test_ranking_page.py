"""docs/reference/ranking.md: its examples give what is printed beside them, and it names every public function."""

from __future__ import annotations

import doctest
from inspect import isfunction

from nasbed.evaluation import ranking
from support.documentation import page_path

PAGE = page_path("ranking")


def test_ranking_page_prints_what_its_examples_give() -> None:
    failed, attempted = doctest.testfile(str(PAGE), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert attempted > 5 and not failed


def test_ranking_page_names_every_public_function() -> None:
    text = PAGE.read_text()
    public = [name for name in ranking.__all__ if isfunction(getattr(ranking, name))]
    assert [name for name in public if f"`{name}" not in text] == []
