"""docs/how-to/oneshot.md has every number of the preset, and marks those that only a public script says."""

from __future__ import annotations

from nasbed.core.presets import SourcedValue
from nasbed.oneshot.presets import SEARCH_PRESETS
from support.documentation import page_path

PAGE = page_path("oneshot")
OWNERS = SEARCH_PRESETS.get("paper").owners
COLUMNS = [method for method in OWNERS if method != "darts2"]


def label(method: str, setting: str) -> str:
    """The name of a row: settings of Bonsai-Net's search have no prefix, those of supernets do."""
    is_search = method == "bonsai-net" and "." not in setting
    return f"supernet.{setting}" if is_search else setting


def text(entry: SourcedValue | None) -> str:
    if entry is None:
        return ""
    value = str(entry.value).lower() if isinstance(entry.value, bool) else str(entry.value)
    only_script = entry.source.startswith(("script", "as in"))
    return f"{value}{'°' if only_script else ''}"


def table() -> list[str]:
    rows: dict[str, dict[str, SourcedValue]] = {}
    for method in COLUMNS:
        for setting, entry in OWNERS[method].items():
            rows.setdefault(label(method, setting), {})[method] = entry
    order = sorted(rows, key=lambda name: (name.startswith("train."), "." in name))
    return [f"| `{name}` | {' | '.join(text(rows[name].get(method)) for method in COLUMNS)} |" for name in order]


def test_page_has_every_number_of_the_preset() -> None:
    heading = f"| | {' | '.join(f'`{method}`' for method in COLUMNS)} |"
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    first = lines.index(heading) + 2
    assert lines[first : first + len(table())] == table()
    assert OWNERS["darts2"] == OWNERS["darts"]
