"""The methods, one a file: how operations are mixed, how architecture parameters move, which architecture results."""
