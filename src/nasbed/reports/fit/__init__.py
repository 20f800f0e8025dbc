"""The page of a fitted surrogate."""
