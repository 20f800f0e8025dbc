"""``import nats_bench`` in a started process: the drop-in takes this module's place."""

from nasbed.compat import install

install("nats_bench", replace=True)
