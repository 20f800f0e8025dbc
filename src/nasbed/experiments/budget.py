"""When a run ends."""

from __future__ import annotations

import math
from dataclasses import dataclass

from nasbed.core.errors import InvalidOption, shorten

UNLIMITED = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Budget:
    """When a run ends: after ``evaluations`` evaluations or ``seconds`` simulated seconds, whichever comes first.

    >>> Budget.parse("500ev"), Budget.parse("1e6s")
    (Budget(evaluations=500, seconds=inf), Budget(evaluations=9223372036854775807, seconds=1000000.0))
    """

    evaluations: int = UNLIMITED
    seconds: float = math.inf

    @classmethod
    def parse(cls, text: str) -> Budget:
        written = text if isinstance(text, str) else ""
        number, unit = (written[:-2], "ev") if written.endswith("ev") else (written[:-1], written[-1:])
        try:
            amount = float(number)
        except ValueError:
            amount = math.nan
        if unit not in ("ev", "s") or not 0 < amount < math.inf or (unit == "ev" and amount != int(amount)):
            raise InvalidOption(
                f"a budget is evaluations or simulated seconds, such as 500ev or 1e6s, got {shorten(text)}"
            )
        return cls(evaluations=int(amount)) if unit == "ev" else cls(seconds=amount)
