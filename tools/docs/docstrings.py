"""Docstrings as Markdown: roles such as :class:`~a.b.C` become code, examples become blocks of code."""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

_ROLE = re.compile(r":(?:class|func|meth|mod|data|attr|exc|obj):`(?P<name>[^`]+)`")
_EXAMPLE = re.compile(r"^(?P<indent> *)>>> .*(?:\n(?P=indent)\S.*)*", flags=re.MULTILINE)


def as_markdown(docstring: str) -> str:
    """The text of a docstring, as Markdown.

    >>> as_markdown("See :class:`~nasbed.core.metric.Metric` and :func:`nasbed.load`.")
    'See `Metric` and `nasbed.load`.'
    """
    text = _ROLE.sub(_code, docstring)
    return _EXAMPLE.sub(lambda match: f"{match['indent']}```pycon\n{match[0]}\n{match['indent']}```", text)


def _code(match: re.Match[str]) -> str:
    name = match["name"]
    return f"`{name.rpartition('.')[2]}`" if name.startswith("~") else f"`{name}`"


class MarkdownDocstrings(Extension):
    """Turns every docstring that is read into Markdown."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        if obj.docstring:
            obj.docstring.value = as_markdown(obj.docstring.value)
