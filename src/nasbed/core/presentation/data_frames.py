"""Columns as a pandas data frame, for those who have pandas: nothing here needs it otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from nasbed.core.errors import MissingDependency

if TYPE_CHECKING:
    import pandas as pd


def data_frame(columns: Mapping[str, Any]) -> pd.DataFrame:
    """A data frame of columns of equal length, by name. Raises, saying how to get it, unless pandas is installed."""
    check_pandas()
    import pandas as pd

    return pd.DataFrame(dict(columns))


def check_pandas() -> None:
    """Raise, saying how to get it, unless pandas is installed."""
    try:
        import pandas  # noqa: F401
    except ImportError:
        raise MissingDependency("a data frame needs pandas; get it with: pip install 'nasbed[pandas]'") from None
