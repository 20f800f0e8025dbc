"""Released benchmarks that no longer come with the package: why, and what to use."""

from __future__ import annotations

_SHORT_TRAININGS = (
    "its trainings of 3 epochs rank architectures like longer ones no better than counting parameters does"
)

WITHDRAWN = {
    f"snb-darts-cifar10-16-{model}{variant}-v1.1": (_SHORT_TRAININGS, f"snb-darts-cifar10-16-{model}{variant}-v2.0")
    for model in ("lgb", "xgb", "gin")
    for variant in ("", "-rand")
}
"""The reason, and the benchmark to use, by former id."""
