"""Helpers that tests share: small tables, surrogates, submissions, servers and functions for worker processes."""
