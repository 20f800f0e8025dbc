"""``import nas_201_api`` in a started process: the drop-in takes this module's place."""

from nasbed.compat import install

install("nas_201_api", replace=True)
