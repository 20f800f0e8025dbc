"""``nasbed challenge …``: a competition on unseen datasets."""
