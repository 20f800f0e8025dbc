"""What the two TransNAS-Bench-101 spaces share."""

from __future__ import annotations

import re

from nasbed.core.errors import ParseError, shorten

CITATION = (
    "Duan, Chen, Xu et al., TransNAS-Bench-101: Improving Transferability and Generalizability of Cross-Task Neural "
    "Architecture Search, CVPR 2021, arXiv:2105.11871"
)


def matched_digits(pattern: re.Pattern[str], text: object, *, rule: str) -> tuple[int, ...]:
    """The digits in the groups of a pattern that fits the whole text; raises, naming the rule, where it does not."""
    match = pattern.fullmatch(text.strip()) if isinstance(text, str) else None
    if match is None:
        raise ParseError(f"{rule}, got {shorten(text)}")
    return tuple(map(int, "".join(match.groups(""))))
