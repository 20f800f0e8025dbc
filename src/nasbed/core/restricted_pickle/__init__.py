"""Foreign pickles, read without running anything that they hold.

This is an interpreter of its own, not a filter in front of Python's: it knows how to build None, booleans, numbers,
text, bytes, lists, tuples, dictionaries, sets and numpy arrays, and there is nothing else that it could build. A pickle
names what it wants to call; the name is looked up in a table of ours, never in ``sys.modules``.

What comes out has been walked over once more: every part is of one of those types, no container holds itself, nesting
is bounded, and so is the size that the value would have if parts that are shared were written out.
"""

from nasbed.core.former_names import former
from nasbed.core.restricted_pickle.reader import Pickle, loads
from nasbed.core.restricted_pickle.values import Call, Global, PickledObject, figure

__all__ = ["Call", "Global", "Pickle", "PickledObject", "figure", "loads"]

__getattr__ = former(__name__, {"Record": "nasbed.core.restricted_pickle:PickledObject"}, until="0.3")
