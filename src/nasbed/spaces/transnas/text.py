"""What the two TransNAS-Bench-101 spaces share."""

from __future__ import annotations

import re

CITATION = (
    "Duan, Chen, Xu et al., TransNAS-Bench-101: Improving Transferability and Generalizability of Cross-Task Neural "
    "Architecture Search, CVPR 2021, arXiv:2105.11871"
)


def matched_digits(pattern: re.Pattern[str], text: object) -> str:
    """The groups of a pattern that fits the whole text, joined; nothing where it does not."""
    match = pattern.fullmatch(text.strip()) if isinstance(text, str) else None
    return "".join(match.groups("")) if match else ""
