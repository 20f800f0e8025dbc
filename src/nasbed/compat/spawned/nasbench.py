"""``import nasbench`` in a started process: the drop-in takes this module's place."""

from nasbed.compat import install

install("nasbench", replace=True)
