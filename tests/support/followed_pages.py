"""A reader who follows a page from top to bottom: writes the files that it shows, runs its Python and its commands.

A fenced block with a ``title`` is a file. Python without one runs; a ``text`` block below is what it prints or shows. A
``console`` block has commands after ``$`` and what they print. Three dots stand for anything.
"""

from __future__ import annotations

import ast
import io
import os
import re
import shlex
import sys
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import chdir, redirect_stdout
from dataclasses import dataclass, field
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE, OutputChecker
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from nasbed.core.registry import Registry
from nasbed.networks import NETWORKS
from nasbed.optimizers import OPTIMIZERS
from nasbed.proxies import PROXIES
from nasbed.spaces import SPACES
from support.commands import run_command
from support.documentation import page_text

FENCE = re.compile(r"^```(\w+)(?: title=\"([^\"]+)\")?\n(.*?)^```$", flags=re.DOTALL | re.MULTILINE)
REGISTRIES: tuple[Registry[Any], ...] = (SPACES, NETWORKS, OPTIMIZERS, PROXIES)


@dataclass(frozen=True, slots=True)
class Fence:
    """A block of a page."""

    language: str
    title: str
    text: str


def fences(page: str, shorter: Mapping[str, str] | None = None) -> list[Fence]:
    """The blocks of a page in order, with what takes long replaced."""
    text = page_text(page)
    for printed, replacement in (shorter or {}).items():
        assert printed in text, f"{page} does not have {printed!r}"
        text = text.replace(printed, replacement)
    return [Fence(*match) for match in FENCE.findall(text)]


@dataclass
class PageFollower:
    """Follows a page in a folder.

    Args:
        folder: where files are written and commands run.
        patch: restores the path of Python, the registries and the modules afterwards.
        exact: whether what is printed is compared with the page.
    """

    folder: Path
    patch: pytest.MonkeyPatch
    exact: bool
    module: ModuleType = field(default_factory=lambda: ModuleType("page_that_is_followed"))

    def follow(self, page: str, shorter: Mapping[str, str] | None = None) -> None:
        """Do what the page says, in its order."""
        self.patch.setitem(sys.modules, self.module.__name__, self.module)
        blocks = fences(page, shorter)
        for block, following in zip(blocks, [*blocks[1:], None], strict=True):
            if block.title:
                path = self.folder / block.title
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(block.text, encoding="utf-8")
            elif block.language == "python":
                shown = self._run_python(block.text)
                if following is not None and following.language == "text":
                    self._compare(following.text, shown)
            elif block.language == "console":
                for command, expected in commands(block.text):
                    self._compare(expected, self._run(shlex.split(command, comments=True)))

    def _run_python(self, code: str) -> str:
        """What the code prints, and the value of its last line as Python shows it."""
        tree = ast.parse(code)
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        out = io.StringIO()
        with chdir(self.folder), redirect_stdout(out):
            exec(compile(tree, "<page>", "exec"), vars(self.module))
            if isinstance(last, ast.Expr):
                value = eval(compile(ast.Expression(last.value), "<page>", "eval"), vars(self.module))
                if value is not None:
                    print(value if isinstance(value, str) else repr(value))
        return out.getvalue()

    def _run(self, words: list[str]) -> str:
        if words[:2] == ["pip", "install"]:
            self._install()
            return ""
        if words[0] == "pytest":
            return self._run_tests()
        assert words[0] == "nasbed", f"a page has nasbed, pip install and pytest alone, got {words[0]}"
        completed = run_command(*words[1:], cwd=self.folder)
        assert completed.returncode == 0, completed.stderr
        return completed.stdout

    def _install(self) -> None:
        """What pip leaves of a package in src: its folder on the path, and its entry points."""
        project = tomllib.loads((self.folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        source = self.folder / "src"
        info = source / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
        )
        groups = project["entry-points"]
        with (info / "entry_points.txt").open("w") as file:
            for group, entries in groups.items():
                file.writelines([f"[{group}]\n", *(f"{name} = {target}\n" for name, target in entries.items())])
        self.patch.syspath_prepend(source)
        self.patch.setenv("PYTHONPATH", str(source), prepend=os.pathsep)
        for registry in REGISTRIES:
            if registry.group in groups:
                self.patch.setattr(registry, "_entries", dict(registry._entries))
                self.patch.setattr(registry, "_plugins_loaded", False)

    def _run_tests(self) -> str:
        """Every test in the folder ``tests``, called one by one."""
        self.patch.syspath_prepend(self.folder / "tests")
        count = 0
        for path in sorted((self.folder / "tests").glob("test_*.py")):
            for test in tests_of(import_module(path.stem)):
                test()
                count += 1
            sys.modules.pop(path.stem)
        return f"{count} passed\n"

    def _compare(self, expected: str, printed: str) -> None:
        if self.exact and expected.strip():
            same = OutputChecker().check_output(expected, printed, ELLIPSIS | NORMALIZE_WHITESPACE)
            assert same, f"the page says\n{expected}\nand this was printed\n{printed}"


def commands(block: str) -> Iterator[tuple[str, str]]:
    """Each command of a console block with what the page prints below it."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, printed = part.partition("\n")
        yield command, printed


def tests_of(module: ModuleType) -> Iterator[Any]:
    """The test functions of a module, and the test methods of the classes that it defines."""
    for name, value in vars(module).items():
        if name.startswith("test_"):
            yield value
        elif isinstance(value, type) and name.startswith("Test") and value.__module__ == module.__name__:
            for method in dir(value):
                if method.startswith("test_"):
                    yield getattr(value(), method)
