"""``nasbed oneshot``: searches with supernets."""
