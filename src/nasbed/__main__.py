"""``python -m nasbed``."""

from nasbed.cli import main

main()
