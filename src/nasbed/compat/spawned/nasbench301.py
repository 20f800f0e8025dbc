"""``import nasbench301`` in a started process: the drop-in takes this module's place."""

from nasbed.compat import install

install("nasbench301", replace=True)
