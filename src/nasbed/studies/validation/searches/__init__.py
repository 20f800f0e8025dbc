"""Searches on surrogates, beside searches on a table or for real."""
