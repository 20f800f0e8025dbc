"""Tables as memory-mapped columns: how they are read, built, and filled by a compiled loop."""

from nasbed.results.cache.reader import Cache, CurveEpochs

__all__ = ["Cache", "CurveEpochs"]
