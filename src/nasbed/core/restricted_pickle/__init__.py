"""Foreign pickles, read without running anything that they hold.

This is a separate interpreter, not a filter in front of Python's. It can build None, booleans, numbers, text, bytes,
lists, tuples, dictionaries, sets and numpy arrays, and nothing else. A pickle names what it wants to call; the name is
looked up in a table of ours, never in ``sys.modules``.

The result is checked once more: every part is of one of those types, no container holds itself, and nesting is bounded.
So is the size that the value would have if shared parts were written out.
"""

from nasbed.core.former_names import former
from nasbed.core.restricted_pickle.reader import Pickle, loads
from nasbed.core.restricted_pickle.values import Call, Global, PickledObject, figure

__all__ = ["Call", "Global", "Pickle", "PickledObject", "figure", "loads"]

__getattr__ = former(__name__, {"Record": "nasbed.core.restricted_pickle:PickledObject"}, until="0.3")
