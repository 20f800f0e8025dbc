"""The spaces that have a supernet, one a file."""
