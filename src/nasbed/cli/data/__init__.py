"""``nasbed data …``: image datasets."""
