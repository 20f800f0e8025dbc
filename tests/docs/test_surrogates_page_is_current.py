"""docs/how-to/surrogates.md lists where Table 6 and our defaults differ, as the code has them."""

from __future__ import annotations

import re
from dataclasses import asdict

from nasbed.surrogates import SURROGATES
from nasbed.surrogates.presets import MODEL_PRESETS
from support.documentation import page_text

PAGE = page_text("surrogates")


def test_surrogates_page_has_every_difference_between_table_6_and_our_defaults() -> None:
    section = PAGE.partition("## The paper's settings\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| `(\w+)` \| (\S+) \| (\S+) \| (\S.*) \|$", section, flags=re.MULTILINE)
    expected = []
    for model, entries in MODEL_PRESETS.get("table-6").owners.items():
        defaults = asdict(SURROGATES.get(model).Settings())
        expected += [
            (model, setting, str(entry.value) or "none", str(defaults[setting]), entry.source)
            for setting, entry in entries.items()
            if entry.value != defaults[setting]
        ]
    assert rows == expected
