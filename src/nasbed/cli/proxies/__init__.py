"""``nasbed proxies …``: zero-cost proxies."""
