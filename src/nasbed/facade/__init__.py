"""What a Python user calls first, ``nasbed.compare`` and its like, and how results show themselves in a notebook."""
