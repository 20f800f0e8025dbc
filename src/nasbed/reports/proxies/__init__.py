"""The page of proxies judged on tables."""
